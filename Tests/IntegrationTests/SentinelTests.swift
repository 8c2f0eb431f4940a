// Workers on a primary found through real sentinels; the fault suite covers more cases, many times.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("Workers with sentinels", .enabled(if: isSoaking), .timeLimit(.minutes(2)))
struct SentinelTests {
    @Test("move together from a failed primary to the new one, with all of their sessions")
    func failover() async throws {
        let set = try await SentinelSet()
        let first = try await WorkerProcess("w1", redis: set.url)
        let second = try await WorkerProcess("w2", redis: set.url)
        let alice = try await first.device("alice", "phone")
        let bob = try await second.device("bob", "laptop")
        for device in [alice, bob] { try await device.ask(.join("c42", presence: false)) }
        try await bob.ask(.watch(["alice"]))
        set.servers[0].process.kill()
        let primary = try await set.primary(besides: set.servers[0])
        try await eventually("alice types on the new primary") { try await alice.ask(.typing("c42", true)) == nil }
        try await eventually("bob sees it") {
            try await bob.typing(in: "c42")?.users.contains { $0.user == "alice" } == true
        }
        #expect(try await primary.cli("HGET", "presence:{alice}", "status") == "online")
        try await eventually("everything is written again, under a new incarnation") {
            let names = try await primary.cli("ZRANGE", "{workers}", "0", "-1")
            let record = try await primary.cli("HGET", "presence:{alice}", "device:phone")
            return names.split(separator: "\n").contains { $0 != first.incarnation && record.contains($0) }
        }
        let wasOffline = bob.messages.contains { message in
            guard case .presence(let users, _) = message else { return false }
            return users.contains { $0.user == "alice" && $0.status == .offline }
        }
        #expect(!wasOffline && alice.close == nil && bob.close == nil)
    }

    @Test("start on the primary of the latest failover, though the first sentinel in their list has missed it")
    func disagreement() async throws {
        let set = try await SentinelSet()
        let primary = try await set.failOver()
        let old = try await RedisServer()
        let behind = try await Sentinel(watching: old.port, as: SentinelSet.name, quorum: 1)
        let url = set.url.replacing("@", with: "@127.0.0.1:\(behind.port),")
        let worker = try await WorkerProcess("w1", redis: url)
        #expect(try await primary.cli("ZRANGE", "{workers}", "0", "-1") == worker.incarnation)
        #expect(try await old.cli("DBSIZE") == "0")
    }

    @Test("do not start if the sentinels know no primary of that name, and say so")
    func unknownName() async throws {
        let redis = try await RedisServer()
        let sentinel = try await Sentinel(watching: redis.port, as: "mymaster", quorum: 1)
        let worker = try WorkerProcess.start([
            "redis.url": "redis+sentinel://127.0.0.1:\(sentinel.port)/other", "redis.connect_timeout": "1s",
        ])
        #expect(try await worker.exitCode() == 69)
        try await eventually("it has printed the reason") { worker.errors.contains("\n") }
        #expect(worker.errors.contains("knows no primary of the name other"), "\(worker.errors)")
    }
}
