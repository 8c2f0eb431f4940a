// The values under the edge's limits, and the door when too many stand in it.

import NIOCore
import RollcallModel
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("The edge's limits")
struct EdgeLimitTests {
    @Test("are told of once a minute, and always counted")
    func counts() {
        var counts = LimitCounts()
        let told = [0, 1, 59, 60, 61, 200].filter { counts.hit(.names, at: .seconds($0)) }
        #expect(told == [0, 60, 200])
        let isOthersTold = counts.hit(.hello, at: .seconds(61))
        #expect(isOthersTold)
        #expect(counts.hits.occurred == [.names: 6, .hello: 1])
    }

    @Test("of connections a second hold in the long run, and let a tenth of a second's worth come at once")
    func pace() {
        var pace = AcceptPace(rate: 100)
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let start = now
        for _ in 0..<10 {
            #expect(pace.wait(at: now) <= .zero)
            pace.accepted(at: now)
        }
        #expect(pace.wait(at: now) > .zero)
        for _ in 0..<990 {
            now = now + pace.wait(at: now)
            pace.accepted(at: now)
        }
        #expect(now - start >= .milliseconds(9850) && now - start <= .milliseconds(10_000))
        now = now + .hours(1)
        var atOnce = 0
        while pace.wait(at: now) <= .zero {
            pace.accepted(at: now)
            atOnce += 1
        }
        #expect(atOnce == 10)
    }

    @Test("of a slow rate are kept from the first connection on")
    func slowPace() {
        var pace = AcceptPace(rate: 1)
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        #expect(pace.wait(at: now) == .zero)
        pace.accepted(at: now)
        #expect(pace.wait(at: now) == .seconds(1))
    }

    @Test("of handshakes end those that have taken longest, and let whoever comes now in", .timeLimit(.minutes(1)))
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

@Suite("The seats of users")
struct UserSeatsTests {
    private func seat(_ user: String, _ device: String) throws -> UserSeats.Seat {
        UserSeats.Seat(user: try UserID(user), device: try DeviceID(device))
    }

    @Test("are as many as there may be devices, and free again when one has gone")
    func devices() throws {
        let seats = UserSeats(limit: 2)
        #expect(try seats.take(seat("alice", "phone")) == nil)
        #expect(try seats.take(seat("alice", "laptop")) == nil)
        #expect(try seats.take(seat("alice", "tablet")) == .tooManySessions)
        #expect(try seats.take(seat("bob", "tablet")) == nil)
        try seats.release(seat("alice", "phone"))
        #expect(try seats.take(seat("alice", "tablet")) == nil)
    }

    @Test("are not asked of a device that is there already, whose older sessions are about to end")
    func replacements() throws {
        let seats = UserSeats(limit: 1)
        for _ in 0...UserSeats.beingReplaced { #expect(try seats.take(seat("alice", "phone")) == nil) }
        #expect(try seats.take(seat("alice", "phone")) == .busy)
        try seats.release(seat("alice", "phone"))
        #expect(try seats.take(seat("alice", "phone")) == nil)
    }

    @Test("are forgotten with the user's last session")
    func forgotten() throws {
        let seats = UserSeats(limit: 5)
        for device in ["a", "a", "b"] { #expect(try seats.take(seat("alice", device)) == nil) }
        for device in ["a", "b", "a", "a"] { try seats.release(seat("alice", device)) }
        #expect(seats.users == 0)
    }
}
