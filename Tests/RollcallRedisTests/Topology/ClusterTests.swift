// A cluster, while a slot moves and a primary fails. The fault suite has the rest: failovers by hand, many slots moved
// under load, a primary added, a minority cut off.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A cluster", .timeLimit(.minutes(2)))
struct ClusterTests {
    /// Enough users to have keys on every primary.
    private static let users = (0..<30).map { user("user\($0)") }
    private static let channels = users.map { "presence:{\($0)}" }

    @Test("every call finds its keys and every channel its primary, also when a slot moves and a primary dies")
    func story() async throws {
        let set = try await RedisClusterSet(hasReplicas: true)
        let client = try await TestClient(set.url)
        #expect(try await client.use { commands, _ in commands.connectionCount } == 3)
        try await client.subscribe(Self.channels)
        try await everyCall(client)
        for channel in Self.channels { try await eventually("\(channel) is heard") { hears(client, channel, "away") } }
        #expect(client.events.count { $0 == "connected" } == 1 && !client.events.contains { $0.hasPrefix("lost") })

        // A slot moves. Existing keys are served by the old node; others are redirected to the new one.
        let (user, channel) = (Self.users[0], Self.channels[0])
        let (old, slot) = (try await set.primary(of: channel), try await set.slot(of: channel))
        let new = try await set.primaries().first { $0 !== old }!
        try await set.beginMoving(slot, from: old, to: new)
        #expect(try await client.send("HGET", .string(channel), "status").text == "away")
        try await client.send("SET", "typing:{user0}", "there")
        #expect(try await new.cli("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "1")
        #expect(try await presence(client).unread.isEmpty)
        try await set.finishMoving(slot, from: old, to: new)
        #expect(try await client.send("GET", "typing:{user0}").text == "there")
        try await client.heard("-\(channel)")
        try await client.heard("+\(channel)", times: 2)
        let write = Session("aa", user: user).says(.active, 3)
        #expect(try await client.call { $0.write(write, reply: $1) }.outcome == .written)
        try await eventually("it is heard where the slot is now") { hears(client, channel, "online") }
        let read = try await presence(client).records.first { $0.user == user }
        #expect(read?.devices.values.map(\.state) == [.active])
        #expect(Set(client.events.filter { $0.hasPrefix("-") }) == ["-\(channel)"])
        #expect(!client.events.contains { $0.hasPrefix("lost") })

        // A primary dies. The others go on, and its replica takes over.
        var spared: [String] = []
        for channel in Self.channels where try await set.primary(of: channel) !== new { spared.append(channel) }
        new.process.kill()
        try await client.heard("lost connectionLost")
        #expect(try await client.publish("meanwhile", on: spared[0]) == 1)
        try await client.heard("unreachable 127.0.0.1:\(new.port)")
        _ = try await set.primary(of: channel, besides: new)
        try await client.confirmed(Self.channels)
        try await eventually("the new primary takes commands") {
            (try? await client.send("HSET", .string(channel), "version", "9")) != nil
        }
        #expect(try await client.publish("after", on: channel) == 1)
        #expect(spared.allSatisfy { channel in !client.events.contains("-\(channel)") })
        try await client.close()
    }

    private func hears(_ client: TestClient, _ channel: String, _ text: String) -> Bool {
        client.events.contains { $0.hasPrefix("\(channel): ") && $0.contains(text) }
    }

    private func presence(_ client: TestClient) async throws -> PresenceSnapshot {
        let found = try await client.call { $0.presence(of: Self.users, known: KnownWorkers(), reply: $1) }
        #expect(!found.unread.isEmpty || found.records.map(\.user) == Self.users, "in the order of the request")
        return found
    }

    /// Calls the store with keys on every primary; leaves a device of each user.
    private func everyCall(_ client: TestClient) async throws {
        let sessions = Self.users.map { Session("aa", user: $0) }
        let names = sessions.map(\.name)
        let begin = Heartbeat.example(.begin, w1, lease: .seconds(60))
        #expect(try await client.call { $0.heartbeat(begin, reply: $1) }.held)
        #expect(try await client.call { $0.record(names, of: w1, until: .never, reply: $1) })
        for session in sessions {
            let write = session.says(.active, 1)
            #expect(try await client.call { $0.write(write, reply: $1) }.outcome == .written)
        }
        let found = try await client.call { $0.audit(names, of: w1, reply: $1) }
        #expect(found.count == names.count && found.allSatisfy { $0.isListed && $0.record?.state == .active })
        #expect(try await client.call { $0.workers(reply: $1) }.workers.map(\.incarnation) == [w1])
        for user in Self.users {
            let signal = TypingSignal(user: user, device: phone, conversation: conversation("c\(user)"), expiry: .never)
            #expect(try await client.call { $0.signalTyping(signal, isOpen: true, reply: $1) } == .typing)
            #expect(try await client.call { $0.stopTyping(signal, reply: $1) } == .stopped)
            try await client.call { $0.setMembers([user: "Name"], of: signal.conversation, reply: $1) }
            #expect(try await client.call { $0.members(of: signal.conversation, reply: $1) } == [user: "Name"])
            let report = try await client.call { $0.report(on: user, own: w1, reply: $1) }
            #expect(report.record.devices.count == 1 && report.workers.standings[w1]?.isDead == false)
        }
        try await client.subscribe(["worker:{w1.aaaa}"])
        #expect(
            try await client.call {
                $0.announce(.replaced(user: alice, device: phone, session: "1-aa"), to: w1, reply: $1)
            })
        let end = Heartbeat.example(.end(after: .milliseconds(-5)), w1, lease: .seconds(60))
        _ = try await client.call { $0.heartbeat(end, reply: $1) }
        let claimed = try #require(try await client.call { $0.claimSweep(of: w1, by: w2, limit: 100, reply: $1) })
        #expect(Set(claimed) == Set(names.map { .session($0) }))
        #expect(try await client.call { $0.sweep(claimed, of: w1, until: .never, reply: $1) } == names.count)
        #expect(try await client.call { $0.forget(w1, reply: $1) })
        #expect(try await presence(client).records.allSatisfy { $0.devices.values.allSatisfy { $0.state == nil } })
        for session in sessions {
            let write = session.says(.idle, 2)
            #expect(try await client.call { $0.write(write, reply: $1) }.outcome == .written)
        }
    }

    @Test("of seeds that are away, or no cluster, the next is asked; if none is left, it is said why")
    func seeds() async throws {
        let lone = try await RedisServer()
        let node = try await RedisServer(options: ["--cluster-enabled", "yes", "--cluster-port", "\(try freePort())"])
        try await node.cli("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        let client = try await TestClient(
            "redis+cluster://127.0.0.1:\(try freePort()),127.0.0.1:\(lone.port),127.0.0.1:\(node.port)")
        try await eventually("it takes commands") { (try? await client.send("SET", "a", "1")) == .status("OK") }
        try await client.close()
        let none = try await TestClient("redis+cluster://127.0.0.1:\(lone.port)", waits: false)
        try await none.fails(with: "does not say which node has what")
    }
}
