// The values behind the edge's limits, and how too many connections at once are handled.

import NIOCore
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("The edge's limits")
struct EdgeLimitTests {
    @Test("are logged once a minute, and always counted")
    func counts() {
        var counts = LimitCounts()
        let told = [0, 1, 59, 60, 61, 200].filter { counts.hit(.messageRate, at: .seconds($0)) }
        #expect(told == [0, 60, 200])
        let isOthersTold = counts.hit(.hello, at: .seconds(61))
        #expect(isOthersTold)
        #expect(counts.hits.occurred == [.messageRate: 6, .hello: 1])
    }

    @Test("of handshakes end those that have taken longest, and admit new ones", .timeLimit(.minutes(1)))
    func handshakes() async throws {
        try await TestEdge.with {
            $0.handshakes = 8
            $0.handshake = .seconds(30)
        } answer: { text, connection in
            let tally = connection.loop.tally
            let answer = text == "hello" ? "echo hello" : "\(tally.refused[.busy]) busy, \(tally.refused[.late]) late"
            connection.send(ServerFrame(text: Array(answer.utf8)))
        } body: { edge in
            let silent = try (0..<20).map { _ in try RawClient(port: edge.port) }
            let honest = try await edge.client()
            try await honest.send(.text("hello"))
            #expect(try await honest.readFrame() == .text("echo hello"))
            #expect(try await silent[0].readToEnd().isEmpty)
            try await honest.send(.text("how many"))
            let refused = try await honest.readFrame()
            #expect(refused == .text("13 busy, 0 late"))
        }
    }
}

// Regression: 50 silent WebSockets occupied all sessions of a worker for eight seconds.
@Suite("Connections without a session", .timeLimit(.minutes(1)))
struct WaitingTests {
    @Test("take no session's place, and closing sessions free theirs at once")
    func seats() async throws {
        try await TestEdge.with(admits: false) {
            $0.sessions = 2
            $0.closing = .seconds(60)
        } answer: { text, connection in
            guard text != "bye" else { return connection.close(.normal) }
            let answer = connection.takeSeat() ? "in" : "full"
            connection.send(ServerFrame(text: Array(answer.utf8)))
        } body: { edge in
            var silent: [RawClient] = []
            for _ in 0..<20 { silent.append(try await edge.client()) }
            #expect(edge.server.connections == 0)
            let (one, two, third) = (try await edge.client(), try await edge.client(), try await edge.client())
            for client in [one, two] {
                try await client.send(.text("hello"))
                #expect(try await client.readFrame() == .text("in"))
            }
            try await third.send(.text("hello"))
            #expect(try await third.readFrame() == .text("full"))
            #expect(edge.server.connections == 2)
            try await one.send(.text("bye"))
            #expect(try await one.readFrame().closeCode == 1000)
            try await third.send(.text("hello"))
            #expect(try await third.readFrame() == .text("in"))
            withExtendedLifetime(silent) {}
        }
    }

    @Test("are closed in favour of newer ones, the oldest first, if there are too many", arguments: ["", "bye"])
    func newer(first: String) async throws {
        try await TestEdge.with(admits: false) {
            $0.handshakes = 8
            $0.handshake = .seconds(30)
            $0.closing = .seconds(30)
            $0.ping = .seconds(60)
        } answer: { text, connection in
            guard text != "bye" else { return connection.close(.normal) }
            _ = connection.takeSeat()
            connection.send(ServerFrame(text: Array("\(connection.loop.limitCounts.hits[.handshakes]) hits".utf8)))
        } body: { edge in
            let session = try await edge.client()
            try await session.send(.text("hello"))
            #expect(try await session.readFrame() == .text("0 hits"))
            var waiting: [RawClient] = []
            for _ in 0..<20 {
                waiting.append(try await edge.client())
                guard first == "bye" else { continue }
                try await waiting.last?.send(.text(first))
                #expect(try await waiting.last?.readFrame().closeCode == 1000)
            }
            #expect(try await waiting[0].readToEnd().isEmpty)
            try await eventually("each new one has displaced one") { try await edge.journal.webSockets() == 9 }
            let honest = try await edge.client()
            try await honest.send(.text("hello"))
            #expect(try await honest.readFrame() == .text("13 hits"))
            try await session.send(.text("still there"))
            #expect(try await session.readFrame() == .text("13 hits"))
        }
    }

    @Test("are closed, oldest first, if one address has the most of them; an IPv6 network counts as one address")
    func addresses() {
        func surplus(_ count: Int, _ texts: String...) -> [Int] {
            Waiting.surplus(count, of: texts.map { ClientAddress(named: $0) })
        }
        #expect(surplus(1, "10.0.0.1", "10.0.0.2", "10.0.0.2") == [1])
        #expect(surplus(2, "10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2") == [1, 2])
        #expect(surplus(5, "10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2") == [1, 2, 3])
        #expect(surplus(2, "10.0.0.1", "10.0.0.2", "10.0.0.3") == [0, 1])
        #expect(surplus(1, "fd00::1", "fd00:0:0:1::1", "fd00:0:0:1:2::2", "::ffff:10.0.0.1") == [1])
        #expect(surplus(2, "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2") == [0, 1])
        #expect(surplus(5, "10.0.0.1") == [0])
    }
}

@Suite("The limit of one address", .timeLimit(.minutes(1)))
struct AddressLimitTests {
    @Test("applies to concurrent WebSockets; an IPv6 network counts as one address")
    func connections() throws {
        let limits = try #require(AddressLimits(connections: 2))
        let (office, other) = (ClientAddress(named: "fd00::1"), ClientAddress(named: "fd00:0:0:1::1"))
        #expect(limits.take(office))
        #expect(limits.take(ClientAddress(named: "fd00::2")))
        #expect(!limits.take(office))
        #expect(limits.take(other))
        limits.release(office)
        #expect(limits.take(office))
    }

    @Test(
        "does not apply to this machine, nor if it is not configured",
        arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func loopback(address: String) throws {
        let limits = try #require(AddressLimits(connections: 1))
        let peer = ClientAddress(of: try SocketAddress(ipAddress: address, port: 1))
        for _ in 0..<20 { #expect(limits.take(peer)) }
        #expect(limits.remembered == 0)
        // Any client may have told a proxy that this is its address.
        #expect(limits.take(ClientAddress(named: address)))
        #expect(!limits.take(ClientAddress(named: address)))
        #expect(AddressLimits(connections: 0) == nil)
    }

    @Test("keeps no memory for addresses without connections")
    func forgotten() throws {
        let limits = try #require(AddressLimits(connections: 5))
        for number in 0..<100_000 {
            let address = ClientAddress(named: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)")
            #expect(limits.take(address))
            limits.release(address)
        }
        #expect(limits.remembered == 0)
    }

    @Test("holds on the edge, for the address that a trusted proxy names, and is released at the end")
    func edge() async throws {
        try await TestEdge.with {
            $0.connectionsPerAddress = 2
            $0.trustedProxies = ["127.0.0.1"]
        } body: { edge in
            var clients: [RawClient] = []
            func connect(from address: String) async throws -> Int? {
                let client = try RawClient(port: edge.port)
                clients.append(client)
                try await client.send(TestEdge.request(extra: "X-Forwarded-For: \(address)\r\n"))
                return try await client.readStatus()
            }
            #expect(try await connect(from: "10.0.0.1") == 101)
            #expect(try await connect(from: "10.0.0.1") == 101)
            #expect(try await connect(from: "10.0.0.1") == 429)
            #expect(try await edge.answer("X-Forwarded-For: 10.0.0.1\r\n").hasPrefix("HTTP/1.1 429 "))
            #expect(try await edge.answer("X-Forwarded-For: 10.0.0.2\r\n").hasPrefix("HTTP/1.1 426 "))
            #expect(try await connect(from: "10.0.0.2") == 101)
            clients[0].close()
            try await eventually("there is room again") { try await connect(from: "10.0.0.1") == 101 }
        }
    }
}

@Suite("The seats of a user's sessions")
struct UserSeatsTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func seat(_ user: String, _ device: String) throws -> UserSeats.Seat {
        UserSeats.Seat(user: try UserID(user), device: try DeviceID(device))
    }

    @Test("are as many as the permitted devices, and free again when one leaves")
    func devices() throws {
        let seats = UserSeats(limit: 2)
        #expect(try seats.take(seat("alice", "phone"), at: now) == nil)
        #expect(try seats.take(seat("alice", "laptop"), at: now) == nil)
        #expect(try seats.take(seat("alice", "tablet"), at: now) == .devices)
        #expect(try seats.take(seat("bob", "tablet"), at: now) == nil)
        try seats.release(seat("alice", "phone"))
        #expect(try seats.take(seat("alice", "tablet"), at: now) == nil)
    }

    @Test("are not needed by a device that is already connected, whose older sessions are about to end")
    func replacements() throws {
        let seats = UserSeats(limit: 1)
        for _ in 0...UserSeats.beingReplaced { #expect(try seats.take(seat("alice", "phone"), at: now) == nil) }
        #expect(try seats.take(seat("alice", "phone"), at: now) == .replacements)
        try seats.release(seat("alice", "phone"))
        #expect(try seats.take(seat("alice", "phone"), at: now) == nil)
    }

    @Test("are deleted with the user's last session")
    func forgotten() throws {
        let seats = UserSeats(limit: 5)
        for device in ["a", "a", "b"] { #expect(try seats.take(seat("alice", device), at: now) == nil) }
        for device in ["a", "b", "a", "a"] { try seats.release(seat("alice", device)) }
        #expect(seats.users == 0)
    }

    /// Regression: one user who connected and left in a loop made a worker send 174,000 frames to 200 watchers in four
    /// seconds.
    @Test("permit a burst of four connects per device, and 0.25 connects per device and second")
    func hellos() throws {
        let seats = UserSeats(limit: 40)
        func connected(at now: NIODeadline) throws -> Int {
            for count in 0..<10_000 {
                let seat = try seat("alice", "d\(count % 2)")
                guard let refusal = seats.take(seat, at: now) else {
                    seats.release(seat)
                    continue
                }
                #expect(refusal == .hellos && refusal.end.code == .busy && refusal.limit == .hellosPerUser)
                return count
            }
            return 0
        }
        #expect(try connected(at: now) == 160)
        #expect(try seats.take(seat("bob", "phone"), at: now) == nil)
        #expect(try connected(at: now + .seconds(1)) == 10)
        #expect(try connected(at: now + .seconds(3600)) == 160)
    }

    @Test("drop the connect counts of users who have not connected lately")
    func budgets() throws {
        let seats = UserSeats(limit: 5)
        for number in 0..<20_000 {
            let seat = try seat("u\(number)", "phone")
            #expect(seats.take(seat, at: now + .seconds(Int64(number))) == nil)
            seats.release(seat)
        }
        #expect(seats.budgets <= 16 * 65 && seats.users == 0)
    }
}
