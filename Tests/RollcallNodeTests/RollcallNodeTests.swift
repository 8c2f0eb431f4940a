// Devices in a server's own process: with each other, across two nodes, and as others see them.

import NIOConcurrencyHelpers
import RollcallNode
import TestSupport
import Testing

@Suite struct RollcallNodeTests {
    @Test("two servers see each other's devices, type and read, without a WebSocket")
    func twoServers() async throws {
        let redis = try await RedisServer()
        try await EmbeddedNode.with(redis) { here in
            try await EmbeddedNode.with(redis) { there in
                let alice = here.client(user: "alice", device: "server")
                let bob = there.client(user: "bob", device: "server")
                alice.connect()
                bob.connect()
                _ = try await alice.presence(of: "bob").first("bob is online") { $0.status == .online }
                let input = bob.typingInput(in: "c42")
                input.edited("Hi")
                let typing = try await alice.typing(in: "c42").first("bob types") { !$0.isEmpty }
                #expect(typing.typists.map(\.user) == ["bob"])
                #expect(try await here.typing(in: "c42").users.map(\.user) == ["bob"])
                await input.sendConfirmed()
                #expect(try await here.typing(in: "c42").count == 0)
                #expect(await alice.currentPresence(of: "bob")?.status == .online)
                let entry = bob.enter("doc1")
                let open = try await alice.here(in: "doc1").first("bob has it open") { $0.count == 1 }
                #expect(open.others.map(\.user) == ["bob"])
                #expect(try await here.here(in: "doc1").users.map(\.user) == ["bob"])
                entry.close()
                _ = try await alice.here(in: "doc1").first("nobody has") { $0.count == 0 }
                await bob.shutdown()
                _ = try await alice.presence(of: "bob").first("bob is gone at once") { $0.status == .offline }
                #expect(try await here.presence(of: ["bob"]).map(\.status) == [.offline])
            }
        }
    }

    @Test("a server follows who comes and goes, goes on after its last event, and learns that events are off")
    func events() async throws {
        let redis = try await RedisServer()
        var configuration = WorkerConfiguration()
        configuration.redis.url = redis.url
        configuration.events.enabled = true
        try await EmbeddedNode.with(configuration) { node in
            let bob = node.client(user: "bob", device: "server")
            bob.connect()
            var last = EventID.start
            var told: [String] = []
            for try await event in node.events() {
                last = event.id
                guard case .status(let presence) = event.content else {
                    told.append("reset")
                    continue
                }
                told.append("\(presence.user) \(presence.status)")
                #expect(try await node.storedPresence(of: ["bob"]).map(\.status) == [presence.status])
                if presence.status == .offline { break }
                await bob.shutdown()
            }
            #expect(told == ["reset", "bob online", "bob offline"])
            let following = Task {
                for try await event in node.events(after: last) { return event.id > last }
                return false
            }
            let eve = node.client(user: "eve", device: "server")
            eve.connect()
            #expect(try await following.value)
        }
        try await EmbeddedNode.with(redis) { node in
            await #expect(throws: NodeEvents.Off.self) { for try await _ in node.events() {} }
        }
    }

    @Test("a client may connect before its node runs, and then observes the current state")
    func beforeRun() async throws {
        let redis = try await RedisServer()
        let node = try await RollcallNode(redis: redis.url)
        let client = node.client(user: "alice", device: "server")
        client.connect()
        _ = try await client.connection.first("it is welcomed") { $0.isConnected }
        let run = Task { try await node.run() }
        _ = try await client.presence(of: "alice").first("alice is online") { $0.status == .online }
        run.cancel()
        try await run.value
    }

    @Test("a client whose session the node ends reconnects, one that is replaced does not")
    func comesBack() async throws {
        let redis = try await RedisServer()
        try await EmbeddedNode.with(redis) { node in
            var options = ClientOptions()
            options.longestPause = .milliseconds(50)
            let client = node.client(user: "alice", device: "server", options: options)
            client.connect()
            _ = try await client.connection.first("connected") { $0.isConnected }
            let newer = node.client(user: "alice", device: "server")
            newer.connect()
            let state = try await client.connection.first("replaced") { if case .failed = $0 { true } else { false } }
            guard case .failed(let error) = state else { return }
            #expect(error.code == .replaced)
            client.connect()
            _ = try await newer.connection.first("replaced in turn") { if case .failed = $0 { true } else { false } }
            #expect(try await node.presence(of: ["alice"]).map(\.status) == [.online])
        }
    }

    @Test("when the node stops, its clients' streams end, and the next process takes over without a flap")
    func stops() async throws {
        let redis = try await RedisServer()
        let first = try await EmbeddedNode(redis)
        let second = try await EmbeddedNode(redis)
        let watcher = second.node.client(user: "bob", device: "server")
        watcher.connect()
        let seen = NIOLockedValueBox<[PresenceStatus]>([])
        let watching = Task {
            for await presence in watcher.presence(of: "alice") { seen.withLockedValue { $0.append(presence.status) } }
        }
        let old = first.node.client(user: "alice", device: "server")
        old.connect()
        try await eventually("bob sees alice") { seen.withLockedValue { $0.last == .online } }
        let before = seen.withLockedValue { $0.count }
        let ended = Task { for await _ in old.typing(in: "c42") {} }
        try await first.stop()
        await ended.value
        #expect(old.connection.latest == .closed)

        let new = second.node.client(user: "alice", device: "server")
        new.connect()
        _ = try await new.connection.first("taken over") { $0.isConnected }
        await new.shutdown()
        try await eventually("a clean end shows at once") { seen.withLockedValue { $0.last == .offline } }
        #expect(seen.withLockedValue { $0.dropFirst(before) } == [.offline], "nothing was seen of the change of hands")
        try await second.stop()
        await watching.value
    }

    @Test("no pings are sent within a process, and its silence causes no disconnect")
    func silence() async throws {
        let redis = try await RedisServer()
        var configuration = WorkerConfiguration()
        configuration.redis.url = redis.url
        configuration.edge.ping = .milliseconds(100)
        try await EmbeddedNode.with(configuration) { node in
            let alice = node.client(user: "alice", device: "server")
            alice.connect()
            _ = try await alice.connection.first("connected") { $0.isConnected }
            let before = alice.connection.latest
            let bob = node.client(user: "bob", device: "server")
            bob.connect()
            let input = bob.typingInput(in: "c42")
            input.edited("Hm")
            let typing = alice.typing(in: "c42")
            _ = try await typing.first("bob types") { !$0.isEmpty }
            _ = try await typing.first("bob has not gone on for three seconds") { $0.isEmpty }
            #expect(alice.connection.latest == before)
            withExtendedLifetime(input) {}
        }
    }

    @Test("the members of a conversation, and which of them are online")
    func members() async throws {
        let redis = try await RedisServer()
        try await EmbeddedNode.with(redis) { node in
            try await node.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
            let alice = node.client(user: "alice", device: "phone")
            alice.connect()
            let one = try await alice.members(of: "c42").first("alice is here") { $0.groupCount.online == 1 }
            #expect(one.groupCount.description == "1 of 2 online")
            let bob = node.client(user: "bob", device: "phone")
            bob.connect()
            let two = try await alice.members(of: "c42").first("bob is here") { $0.groupCount.online == 2 }
            #expect(two.people.map(\.name) == ["Alice", "Bob"])
            try await node.setMember("carol", name: "Carol", of: "c42")
            let three = try await alice.members(of: "c42").first("carol belongs") { $0.people.count == 3 }
            #expect(three.groupCount.description == "2 of 3 online")
        }
    }

    @Test("clients that are released leave nothing at the node")
    func letGo() async throws {
        let redis = try await RedisServer()
        try await EmbeddedNode.with(redis) { node in
            weak var last: RollcallClient?
            for number in 0..<100 {
                let client = node.client(user: "alice", device: try DeviceID("d\(number)"))
                client.connect()
                if number == 99 { _ = try await client.presence(of: "alice").first("online") { $0.status == .online } }
                last = client
            }
            #expect(last == nil)
            try await eventually("alice is gone") { try await node.presence(of: ["alice"])[0].status == .offline }
        }
    }

    @Test("without a Redis a node reports an error, and one stopped before it is ready just stops")
    func noRedis() async throws {
        var configuration = WorkerConfiguration()
        configuration.redis.url = "redis://127.0.0.1:\(try freePort())"
        configuration.redis.connectTimeout = .milliseconds(200)
        let node = try await RollcallNode(configuration)
        await #expect(throws: CannotServe.self) { try await node.run() }
        configuration.redis.connectTimeout = .seconds(60)
        let stopped = try await RollcallNode(configuration)
        let run = Task { try await stopped.run() }
        run.cancel()
        try await run.value
    }
}
