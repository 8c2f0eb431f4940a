// `rollcall dev` with a whole Redis Cluster: whichever primary fails, users still see each other.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("rollcall dev with a cluster", .serialized, .timeLimit(.minutes(3)))
struct DevClusterTests {
    /// A cluster, two workers, and a user on each.
    private struct Party {
        let dev: RunningDev
        let alice: WireDevice
        let bob: WireDevice

        init() async throws {
            // Six servers, a watcher and a subscriber for each, and two workers.
            dev = try await RunningDev(["--redis", "cluster"], children: 20)
            alice = try await Self.device("älice", on: dev.ready.workers[0])
            bob = try await Self.device("bob", on: dev.ready.workers[1])
            try await bob.ask(.watch(["älice"]))
            try await eventually("bob sees that she is online") {
                try await bob.look()
                return statuses.last == .online
            }
        }

        private static func device(_ name: String, on worker: Ready.Worker) async throws -> WireDevice {
            let device = try await WireDevice(port: try #require(URL(string: worker.edge)?.port))
            try await device.hello(token: name, device: "phone", state: .active)
            try await device.ask(.join("c42", presence: false))
            return device
        }

        /// The statuses of Alice that Bob received.
        var statuses: [PresenceStatus] {
            bob.messages.flatMap { message -> [PresenceStatus] in
                guard case .presence(let users, _) = message else { return [] }
                return users.filter { $0.user == "älice" }.map(\.status)
            }
        }

        func typingGoesOn() async throws {
            // Repeated, because one signal expires before Bob's worker follows the conversation again.
            try await eventually("she types, and bob sees it", within: .seconds(90), every: .milliseconds(200)) {
                guard try await alice.ask(.typing("c42", true)) == nil else { return false }
                return try await bob.typing(in: "c42")?.users.contains { $0.user == "älice" } == true
            }
            #expect(try await alice.ask(.typing("c42", false)) == nil)
        }

        /// Returns the answer of the first server that answers, redirected to the node with the key.
        func cli(_ words: String...) async throws -> String {
            for node in dev.ready.redis.nodes {
                let answer = try await RunningDev.ask(node.port, ["-c"] + words)
                if !answer.isEmpty { return answer }
            }
            throw Timeout(description: "no server answers \(words)")
        }

        /// Returns the port of the primary that has a key.
        func primary(of key: String) async throws -> Int {
            let slot = try #require(Int(try await cli("CLUSTER", "KEYSLOT", key)))
            for line in try await cli("CLUSTER", "NODES").split(separator: "\n") {
                let words = line.split(separator: " ")
                let hasIt = words.dropFirst(8).contains { range in
                    let ends = range.split(separator: "-").compactMap { Int($0) }
                    return ends.count == 2 && ends[0] <= slot && slot <= ends[1]
                }
                let port = words[1].split(separator: "@")[0].split(separator: ":").last.flatMap { Int($0) }
                if hasIt { return try #require(port) }
            }
            return 0
        }

        func kill(_ port: Int) async throws {
            Foundation.kill(try await dev.server(on: port), SIGKILL)
        }

        func isBackAsReplica(_ port: Int) async throws {
            try await eventually("the one on \(port) follows", within: .seconds(60), every: .milliseconds(100)) {
                let role = try await RunningDev.ask(port, "ROLE")
                return role.hasPrefix("slave") && role.contains("connected")
            }
        }
    }

    @Test("continues when a primary is killed, by the page or directly; it returns as a replica with its data")
    func primaries() async throws {
        let party = try await Party()
        let dev = party.dev
        #expect(dev.ready.redis.nodes.count == 6 && dev.ready.redis.url.hasPrefix("redis+cluster://"))
        _ = try await party.cli("HSET", "members:{c43}", "alice", "Alice")
        try await party.typingGoesOn()
        let killed = try await party.primary(of: "typing:{c42}")
        try await party.kill(killed)
        try await party.isBackAsReplica(killed)
        #expect(try await party.primary(of: "typing:{c42}") != killed)
        try await party.typingGoesOn()
        let leased = try await party.primary(of: "{workers}")
        try await dev.startAnew("redis")
        try await party.isBackAsReplica(leased)
        #expect(try await party.primary(of: "{workers}") != leased)
        try await party.typingGoesOn()
        #expect(try await party.cli("HGETALL", "members:{c43}") == "alice\nAlice")
        #expect(!party.statuses.contains(.offline))
        #expect(dev.process.errors.contains("redis-server was killed by signal 9 and is restarted"))
        for channel in ["presence:{älice}", "typing:{c42}"] {
            #expect(dev.process.output.contains(#"{"channel":"\#(channel)","message":{"user":"älice""#))
        }
        try await dev.endsInOrder()
    }

    @Test("passes all checks of rollcall doctor")
    func doctor() async throws {
        let dev = try await RunningDev(["--redis", "cluster"], children: 20)
        try await eventually("the replicas are in sync, and the doctor reports no problem", within: .seconds(30)) {
            let doctor = try ChildProcess(
                [RollcallProgram.path, "doctor"]
                    + ["redis.url=\(dev.ready.redis.url)", "auth.mode=insecure"].flatMap { ["--set", $0] })
            #expect(try await doctor.exitCode() == 0)
            try await eventually("its output is read") { doctor.outputEnded }
            return doctor.output.contains("3 primaries serve all slots, each with a replica")
        }
        try await dev.endsInOrder()
    }

    /// In this case, no majority is left to elect replicas.
    @Test("recovers when most primaries are killed at once, and workers write lost data again")
    func mostPrimaries() async throws {
        let party = try await Party()
        let killed = [try await party.primary(of: "typing:{c42}"), try await party.primary(of: "{workers}")]
        #expect(killed[0] != killed[1])
        for port in killed { try await party.kill(port) }
        try await party.typingGoesOn()
        #expect(!party.statuses.contains(.offline))
        try await party.dev.endsInOrder()
    }

    @Test("refuses a Redis that is too old for it, and says so")
    func tooOld() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let old = folder.appending(path: "redis-server")
        try Data("#!/bin/sh\necho Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.1.0\n".utf8).write(to: old)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: old.path)
        let dev = try ChildProcess(
            [RollcallProgram.path, "dev", "--port", "0", "--redis", "cluster"],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin"])
        #expect(try await dev.exitCode() == 69)
        try await eventually("the error is read") { dev.outputEnded }
        #expect(dev.errors == "rollcall dev: a cluster needs Redis 7.0 or later, and \(old.path) is 6.2.14\n")
    }
}
