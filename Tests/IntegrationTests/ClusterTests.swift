// Workers on a real Redis Cluster: users' keys are on several primaries, and users must see each other all the time,
// also while slots move and when a primary fails.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("Workers on a cluster", .enabled(if: isSoaking), .serialized, .timeLimit(.minutes(2)))
struct ClusterTests {
    /// Enough names to have keys on every primary.
    private static let names = (0..<12).map { "user\($0)" }

    /// Devices on one worker, and one on another worker that watches them all.
    private struct Party {
        let set: RedisClusterSet
        let workers: [WorkerProcess]
        let devices: [WireDevice]
        let watcher: WireDevice

        init(_ set: RedisClusterSet, settings: [String: String] = [:]) async throws {
            self.set = set
            workers = [
                try await WorkerProcess("w1", redis: set.url, settings: settings),
                try await WorkerProcess("w2", redis: set.url, settings: settings),
            ]
            var devices: [WireDevice] = []
            for name in names { devices.append(try await workers[0].device(name, "phone")) }
            self.devices = devices
            watcher = try await workers[1].device("watcher", "laptop")
            for device in devices + [watcher] { try await device.ask(.join("c42", presence: false)) }
            try await watcher.ask(.watch(names.map { try UserID($0) }))
            try await sees(.online)
        }

        /// Waits until the last status that the watcher received of each user is this one.
        func sees(_ status: PresenceStatus, within limit: Duration = .seconds(30)) async throws {
            try await eventually("all are \(status)", within: limit) {
                try await watcher.look()
                return names.allSatisfy { statuses(of: $0).last == status }
            }
        }

        func statuses(of name: String) -> [PresenceStatus] {
            watcher.messages.flatMap { message -> [PresenceStatus] in
                guard case .presence(let users, _) = message else { return [] }
                return users.filter { $0.user.text == name }.map(\.status)
            }
        }

        /// Whether a user was shown as offline who was connected all the time.
        var hasFlapped: Bool { names.contains { statuses(of: $0).contains(.offline) } }

        func typing(_ device: WireDevice, _ name: String) async throws {
            try await eventually("\(name) types") { try await device.ask(.typing("c42", true)) == nil }
            try await eventually("others see that \(name) types") {
                try await watcher.typing(in: "c42")?.users.contains { $0.user.text == name } == true
            }
        }
    }

    @Test("users see presence and typing of users whose keys are on different primaries")
    func everybody() async throws {
        let short = ["worker.lease": "1500ms", "worker.heartbeat": "500ms"]
        let party = try await Party(RedisClusterSet(), settings: short)
        try await party.typing(party.devices[0], "user0")
        for device in party.devices { try await device.ask(.state(.idle)) }
        try await party.sees(.away)
        for server in party.set.servers { #expect(Int(try await server.cli("DBSIZE")) ?? 0 > 0) }
        party.workers[0].crash()
        try await party.sees(.offline)
        try await eventually("its devices are swept on all primaries") {
            try await party.set.cli("ZCARD", "{workers}") == "1"
        }
        for name in Self.names {
            #expect(try await party.set.cli("HGET", "presence:{\(name)}", "status") == "offline")
        }
    }

    @Test("nothing is lost while slots move, including that of the leases, and the channels move with them")
    func moving() async throws {
        let party = try await Party(RedisClusterSet())
        let keys = Self.names.prefix(4).map { "presence:{\($0)}" } + ["typing:{c42}", "{workers}"]
        for key in keys {
            let (slot, old) = (try await party.set.slot(of: key), try await party.set.primary(of: key))
            let new = party.set.servers.first { $0 !== old }!
            try await party.set.beginMoving(slot, from: old, to: new)
            for device in party.devices.prefix(4) {
                _ = try await device.send(.state(.idle))
                _ = try await device.send(.state(.active))
            }
            try await party.set.finishMoving(slot, from: old, to: new)
        }
        try await party.typing(party.devices[0], "user0")
        for device in party.devices { try await device.ask(.state(.idle)) }
        try await party.sees(.away)
        #expect(!party.hasFlapped && party.devices.allSatisfy { $0.close == nil })
    }

    @Test(
        "workers write again what a failed primary may have lost", arguments: ["{workers}", "presence:{user0}"])
    func failover(key: String) async throws {
        let party = try await Party(RedisClusterSet(hasReplicas: true))
        let old = try await party.set.primary(of: key)
        let first = party.workers[0].incarnation
        old.process.kill()
        _ = try await party.set.primary(of: key, besides: old)
        for device in party.devices { try await device.ask(.state(.idle)) }
        try await party.sees(.away)
        try await party.typing(party.devices[0], "user0")
        try await eventually("everything is written again under another incarnation") {
            for name in Self.names {
                let record = try await party.set.cli("HGET", "presence:{\(name)}", "device:phone")
                guard record.hasPrefix("idle"), !record.contains(first) else { return false }
            }
            return true
        }
        #expect(!party.hasFlapped && party.devices.allSatisfy { $0.close == nil })
    }

    /// Regression: the message claimed that there was no Redis and asked to start one.
    @Test("a worker does not start on a cluster that is down, and the message says so")
    func down() async throws {
        let set = try await RedisClusterSet()
        let left = try await set.primary(of: "{workers}")
        try #require(set.servers.first { $0 !== left }).process.kill()
        try await eventually("it is down") { try await left.cli("CLUSTER", "INFO").contains("cluster_state:fail") }
        let worker = try WorkerProcess.start(["redis.url": set.url, "redis.connect_timeout": "2s"])
        #expect(try await worker.exitCode() == 69)
        try await eventually("it prints the reason") { worker.errors.contains("refuses writes (CLUSTERDOWN") }
        #expect(worker.errors.contains("redis-cli --cluster check"))
    }

    @Test("a worker does not start if no node answers, and the message says so")
    func nobody() async throws {
        let worker = try WorkerProcess.start([
            "redis.url": "redis+cluster://127.0.0.1:\(try freePort())", "redis.connect_timeout": "1s",
        ])
        #expect(try await worker.exitCode() == 69)
    }
}
