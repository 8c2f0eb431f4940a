// Redis answers reads and refuses writes: devices that connect and leave in that time must cost neither memory in the
// worker nor writes once Redis accepts writes again.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("While Redis refuses writes", .enabled(if: isSoaking))
struct RefusedWritesTests {
    /// Why Redis refuses writes.
    enum Refusal: String, CaseIterable, CustomTestStringConvertible {
        /// `NOREPLICAS`: there are no replicas.
        case noReplicas
        /// `MISCONF`: a snapshot could not be saved.
        case cannotSave

        var testDescription: String { rawValue }

        func begin(_ redis: TestRedis) async throws {
            switch self {
            case .noReplicas: try await redis.cli("CONFIG", "SET", "min-replicas-to-write", "1")
            case .cannotSave:
                try await redis.cli("CONFIG", "SET", "save", "3600 100000000")
                // Saving a snapshot fails, because its path is a directory.
                try FileManager.default.createDirectory(
                    at: redis.folder.appending(path: "dump.rdb/inside"), withIntermediateDirectories: true)
                try await redis.cli("BGSAVE")
            }
            try await eventually("Redis refuses writes") {
                let answer = try await redis.cli("SET", "probe", "1")
                return answer.contains("NOREPLICAS") || answer.contains("MISCONF")
            }
        }

        func end(_ redis: TestRedis) async throws {
            switch self {
            case .noReplicas: try await redis.cli("CONFIG", "SET", "min-replicas-to-write", "0")
            case .cannotSave: try await redis.cli("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
            }
        }
    }

    @Test(
        "devices that connect and leave cost nothing, reads are answered, and only connected devices are written later",
        arguments: Refusal.allCases)
    func comeAndGo(_ refusal: Refusal) async throws {
        let settings = [
            "worker.lease": "2s", "worker.heartbeat": "500ms", "presence.grace": "1s", "worker.drain": "0s",
        ]
        let deployment = try await Deployment(workers: 1, settings: settings, on: .server)
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        let alice = try await worker.device("alice", "phone")
        let bob = try await worker.device("bob", "phone")
        for device in [alice, bob] { try await device.ask(.join("c", presence: false)) }
        try await eventually("both are written") {
            try await redis.cli("HGET", "presence:{bob}", "status") == "online"
        }

        try await refusal.begin(redis)
        for number in 0..<500 {
            let device = try await worker.device("u\(number)", "phone")
            if number.isMultiple(of: 2) { try await device.send(.goodbye) } else { device.drop() }
        }
        for _ in 0..<100 {
            try await alice.send(.typing("c", true))
            try await alice.send(.typing("c", false))
            try await Task.sleep(for: .milliseconds(40))
        }
        try await eventually("the worker logs it, and no session lingers") {
            let page = try await Web.get("\(worker.admin)/metrics").body
            return page.contains("rollcall_redis_refuses_writes 1\n") && page.contains("rollcall_lease_held 0\n")
                && page.contains("rollcall_sessions_lingering 0\n") && page.contains("rollcall_sessions_unwritten 0\n")
        }
        #expect(try await Web.get("\(worker.admin)/v1/presence?user=alice").body.contains(#""status":"online""#))
        #expect(try await alice.ask(.typing("c", true))?.code == .unavailable)
        let newcomer = try await worker.device("newcomer", "phone")
        let before = try await writes(of: redis)

        try await refusal.end(redis)
        try await eventually("the newcomer is written") {
            try await redis.cli("HGET", "presence:{newcomer}", "status") == "online"
        }
        try await eventually("the worker logs it") {
            try await Web.get("\(worker.admin)/metrics").body.contains("rollcall_redis_refuses_writes 0\n")
        }
        try await Task.sleep(for: .seconds(4))
        let written = try await writes(of: redis) - before
        // Three sessions and heartbeats; every session that connected and left would add at least one.
        #expect(written < 150, "\(written) commands")
        for device in [alice, bob, newcomer] { #expect(try await device.ask(.state(.active)) == nil) }
        #expect(worker.process.errors.split(separator: "\n").count { $0.contains("heartbeat failed") } < 5)
    }

    /// Returns how many commands have published, or changed presence data.
    private func writes(of redis: TestRedis) async throws -> Int {
        try await redis.cli("INFO", "commandstats").split(whereSeparator: \.isNewline).reduce(0) { sum, line in
            guard let match = line.firstMatch(of: #/cmdstat_(hset|hdel|sadd|srem|publish):calls=(\d+)/#) else {
                return sum
            }
            return sum + (Int(match.2) ?? 0)
        }
    }
}
