// Commands and messages on a real cluster, while slots move and primaries fail. Each test starts a private cluster,
// which takes seconds, so these tests are slow.

import Foundation
import NIOCore
import RollcallModel
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A cluster", .serialized, .timeLimit(.minutes(2)))
struct ClusterTests {
    /// Enough users to have keys on every primary.
    private static let users = (0..<30).map { "user\($0)" }
    private static let channels = users.map { "presence:{\($0)}" }

    private func presence(_ client: TestClient) async throws -> PresenceSnapshot {
        let users = try Self.users.map { try UserID($0) }
        return try await client.call {
            $0.presence(of: users, known: KnownWorkers(), reply: $1)
        }
    }

    @Test func `each command goes to the primary that has its key, and each channel is heard there`() async throws {
        let set = try await RedisClusterSet()
        let client = try await TestClient(set.url)
        #expect(try await client.use { commands, _ in commands.connectionCount } == 3)
        try await client.subscribe(Self.channels)
        for user in Self.users { _ = try await client.send("HSET", "presence:{\(user)}", "version", "7") }
        for channel in Self.channels { #expect(try await client.publish("hello", on: channel) == 1) }
        for channel in Self.channels { try await client.heard("\(channel): hello") }
        let read = try await presence(client)
        #expect(read.records.count == Self.users.count && read.records.allSatisfy { $0.version == 7 })
        for server in set.servers { #expect(Int(try await server.cli("DBSIZE")) ?? 0 > 3) }
        #expect(client.events.count { $0 == "connected" } == 1 && !client.events.contains("lost"))
        try await client.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a primary that does not let us in is told of once, and again after it has`() async throws {
        let set = try await RedisClusterSet()
        let shut = set.servers[1]
        try await shut.cli("ACL", "SETUSER", "rollcall", "off")
        let client = try await TestClient(set.url)
        func told() -> Int { client.events.count { $0 == "unreachable 127.0.0.1:\(shut.port)" } }
        try await eventually("it is told of") { told() == 1 }
        try await shut.cli("ACL", "SETUSER", "rollcall", "on")
        try await eventually("it lets us in") { try await client.use { commands, _ in commands.connectionCount == 3 } }
        #expect(told() == 1 && client.events.count { $0.hasPrefix("unreachable") } == 1)
        try await shut.cli("ACL", "SETUSER", "rollcall", "off")
        try await shut.cli("CLIENT", "KILL", "TYPE", "normal")
        try await eventually("it is told of again") { told() == 2 }
        try await client.close()
    }

    @Test func `every call of the store finds where its keys are`() async throws {
        let set = try await RedisClusterSet()
        let client = try await TestClient(set.url)
        let people = Self.users.map { user($0) }
        let sessions = people.map { Session("aa", user: $0) }
        let names = sessions.map(\.name)
        @Sendable func beat(_ mode: Heartbeat.Mode) -> Heartbeat {
            Heartbeat(
                mode: mode, incarnation: w1, lease: .seconds(60), host: "h", pid: 1, edge: "ws://h",
                startedAt: Timestamp(milliseconds: 1), sessions: names.count, version: "0")
        }
        #expect(try await client.call { $0.heartbeat(beat(.begin), reply: $1) }.held)
        #expect(try await client.call { $0.record(names, of: w1, until: .never, reply: $1) })
        for session in sessions {
            let write = session.says(.active, 1)
            #expect(try await client.call { $0.write(write, reply: $1) }.outcome == .written)
        }
        let found = try await client.call { $0.audit(names, of: w1, reply: $1) }
        #expect(found.count == names.count && found.allSatisfy { $0.isListed && $0.record?.state == .active })
        #expect(try await client.call { $0.workers(reply: $1) }.workers.map(\.incarnation) == [w1])
        for person in people {
            let signal = TypingSignal(
                user: person, device: phone, conversation: conversation("c\(person)"), expiry: .never)
            #expect(try await client.call { $0.signalTyping(signal, reply: $1) } == .typing)
            #expect(try await client.call { $0.stopTyping(signal, reply: $1) } == .stopped)
            try await client.call { $0.setMembers([person: "Name"], of: signal.conversation, reply: $1) }
            #expect(try await client.call { $0.members(of: signal.conversation, reply: $1) } == [person: "Name"])
            let report = try await client.call { $0.report(on: person, own: w1, reply: $1) }
            #expect(report.record.devices.count == 1 && report.workers.standings[w1]?.isDead == false)
        }
        try await client.subscribe(["worker:{w1.aaaa}"])
        let notice = WorkerNotice.replaced(user: people[0], device: phone, session: "1-aa")
        #expect(try await client.call { $0.announce(notice, to: w1, reply: $1) })
        _ = try await client.call { $0.heartbeat(beat(.end(after: .milliseconds(-5))), reply: $1) }
        let claimed = try #require(try await client.call { $0.claimSweep(of: w1, by: w2, limit: 100, reply: $1) })
        #expect(Set(claimed) == Set(names))
        #expect(try await client.call { $0.sweep(claimed, of: w1, until: .never, reply: $1) } == names.count)
        #expect(try await presence(client).records.allSatisfy { $0.devices.values.allSatisfy { $0.state == nil } })
        #expect(try await client.call { $0.forget(w1, reply: $1) })
        #expect(try await set.cli("ZCARD", "{workers}") == "0")
        try await client.close()
    }

    @Test func `a slot that moves takes its keys and channels along`() async throws {
        let set = try await RedisClusterSet()
        let client = try await TestClient(set.url)
        try await client.subscribe(Self.channels)
        for user in Self.users { _ = try await client.send("HSET", "presence:{\(user)}", "version", "7") }
        let (old, slot) = (try await set.primary(of: Self.channels[0]), try await set.slot(of: Self.channels[0]))
        let new = set.servers.first { $0 !== old }!
        try await set.beginMoving(slot, from: old, to: new)
        // Existing keys are served by the old node. Others are redirected to the new node, and are created there.
        #expect(try await client.send("HGET", Self.channels[0], "version").integer == 7)
        let another = "typing:{user0}"
        _ = try await client.send("SET", another, "there")
        #expect(try await old.cli("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "1")
        #expect(try await new.cli("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "1")
        #expect(try await presence(client).records.allSatisfy { $0.version == 7 })
        try await set.finishMoving(slot, from: old, to: new)
        #expect(try await client.send("GET", another).string == "there")
        #expect(try await client.send("HGET", Self.channels[0], "version").integer == 7)
        try await client.heard("-\(Self.channels[0])")
        try await eventually("it is confirmed anew") { client.events.count { $0 == "+\(Self.channels[0])" } == 2 }
        #expect(try await client.publish("moved", on: Self.channels[0]) == 1)
        try await client.heard("\(Self.channels[0]): moved")
        let others = Self.channels.filter { $0 != Self.channels[0] }
        #expect(others.allSatisfy { channel in !client.events.contains("-\(channel)") })
        #expect(!client.events.contains("lost"))
        try await client.close()
    }

    @Test func `scripts are followed where their slot goes`() async throws {
        let set = try await RedisClusterSet()
        let client = try await TestClient(set.url)
        let alice = try UserID("alice")
        let write = Session("aa").says(.active, 1)
        try await client.subscribe(["presence:{alice}"])
        #expect(try await client.call { $0.write(write, reply: $1) }.outcome == .written)
        let slot = try await set.slot(of: "presence:{alice}")
        let old = try await set.primary(of: "presence:{alice}")
        let new = set.servers.first { $0 !== old }!
        try await set.move(slot, from: old, to: new)
        let next = Session("aa").says(.idle, 2)
        #expect(try await client.call { $0.write(next, reply: $1) }.outcome == .written)
        let read = try await client.call { $0.presence(of: [alice], known: KnownWorkers(), reply: $1) }
        #expect(read.records[0].devices.values.map(\.state) == [.idle])
        try await client.confirmed(["presence:{alice}"])
        let last = Session("aa").says(nil, 3)
        #expect(try await client.call { $0.write(last, reply: $1) }.outcome == .written)
        try await eventually("it is heard where the slot is now") {
            client.events.contains { $0.hasPrefix("presence:{alice}: ") && $0.contains("offline") }
        }
        try await client.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a node that is given its first slots is gone to`() async throws {
        let set = try await RedisClusterSet(hasSpare: true)
        let client = try await TestClient(set.url)
        try await client.subscribe(Self.channels)
        let (old, new) = (try await set.primary(of: Self.channels[0]), set.servers[3])
        let slot = try await set.slot(of: Self.channels[0])
        try await set.beginMoving(slot, from: old, to: new)
        try await eventually("the new node takes commands") {
            (try? await client.send("HSET", Self.channels[0], "version", "8")) != nil
        }
        try await set.finishMoving(slot, from: old, to: new)
        #expect(try await client.send("HGET", Self.channels[0], "version").integer == 8)
        #expect(try await new.cli("DBSIZE") == "1")
        try await eventually("it is confirmed there") { client.events.count { $0 == "+\(Self.channels[0])" } == 2 }
        #expect(try await client.publish("hello", on: Self.channels[0]) == 1)
        #expect(try await client.use { commands, _ in commands.connectionCount } == 4)
        try await client.close()
    }

    @Test func `a primary that dies is followed by its replica, and the others go on meanwhile`() async throws {
        let set = try await RedisClusterSet(hasReplicas: true)
        let client = try await TestClient(set.url)
        try await client.subscribe(Self.channels)
        let old = try await set.primary(of: Self.channels[0])
        var spared: [String] = []
        for channel in Self.channels where try await set.primary(of: channel) !== old { spared.append(channel) }
        old.process.kill()
        try await client.heard("-\(Self.channels[0])")
        #expect(try await client.publish("meanwhile", on: spared[0]) == 1)
        _ = try await set.primary(of: Self.channels[0], besides: old)
        try await client.confirmed(Self.channels)
        try await eventually("the new primary takes commands") {
            (try? await client.send("HSET", Self.channels[0], "version", "9")) != nil
        }
        #expect(try await client.publish("after", on: Self.channels[0]) == 1)
        #expect(spared.allSatisfy { channel in !client.events.contains("-\(channel)") })
        #expect(client.events.count { $0 == "connected" } == 2)
        try await client.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a failover by hand is followed, too`() async throws {
        let set = try await RedisClusterSet(hasReplicas: true)
        let client = try await TestClient(set.url)
        try await client.subscribe(Self.channels)
        let old = try await set.primary(of: Self.channels[0])
        try await set.failOver(old)
        _ = try await set.primary(of: Self.channels[0], besides: old)
        try await eventually("the new primary takes commands") {
            (try? await client.send("HSET", Self.channels[0], "version", "9")) != nil
        }
        try await client.confirmed(Self.channels)
        try await eventually("it is heard there") { try await client.publish("after", on: Self.channels[0]) == 1 }
        try await client.close()
    }

    @Test func `of seeds that are away, or no cluster, the next is asked; if none is left, it is said why`()
        async throws
    {
        let set = try await RedisClusterSet()
        let lone = try await RedisServer()
        let client = try await TestClient(
            "redis+cluster://127.0.0.1:\(try freePort()),127.0.0.1:\(lone.port),127.0.0.1:\(set.servers[2].port)")
        #expect(try await client.send("SET", "a", "1") == .status("OK"))
        try await client.close()
        let topology = Topology(
            of: try RedisDeployment(url: "redis+cluster://127.0.0.1:\(lone.port)"), on: Commands.loop, logger: quiet)
        let error = await #expect(throws: RedisError.self) {
            try await RedisVisit(to: topology, on: Commands.loop, within: .seconds(10), logger: quiet)
        }
        #expect(error?.sentence.contains("does not say which node has what") == true)
        await topology.close()
    }
}
