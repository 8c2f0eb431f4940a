// A connection that the shard does not want to read for now, over real sockets.

import NIOConcurrencyHelpers
import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("Paused connections", .timeLimit(.minutes(1)))
struct EdgeHoldingTests {
    /// Regression: a client whose token was still being verified could make a worker keep megabytes.
    @Test("little is read, the connection is not treated as dead, and everything arrives in order when reading resumes")
    func held() async throws {
        let read = NIOLockedValueBox(0)
        try await TestEdge.with {
            $0.ping = .milliseconds(300)
        } answer: { text, connection in
            guard text == "hold" else { return }
            connection.hold()
            connection.loop.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1500)) {
                read.withLockedValue { $0 = connection.loop.tally.receivedBytes }
                connection.listen()
            }
        } body: { edge in
            let client = try await edge.client()
            let large = ClientFrame.text(String(repeating: "a", count: 60_000))
            try await client.send(.text("hold"))
            for _ in 0..<40 { try await client.send(large) }
            try await client.send(.text("last"))
            try await eventually("the last message has arrived") { edge.journal.contains("last") }
            #expect((1...2000).contains(read.withLockedValue { $0 }))
            let said = ["connected", "hold"] + Array(repeating: "60000 bytes", count: 40) + ["last"]
            // This client does not answer pings, so the connection may be lost by now.
            #expect([said, said + ["lost"]].contains(edge.journal.all))
        }
    }

    @Test("a client that disconnects meanwhile is reported, after the messages that it had sent")
    func goesMeanwhile() async throws {
        try await TestEdge.with { _ in
        } answer: { text, connection in
            if text == "hold" { connection.hold() }
        } body: { edge in
            let client = try await edge.client()
            try await client.send(.text("hold"))
            for number in 0..<100 { try await client.send(.text("\(number)")) }
            client.close()
            try await eventually("the shard is notified") { edge.journal.contains("lost") }
            #expect(edge.journal.all == ["connected", "hold"] + (0..<100).map { "\($0)" } + ["lost"])
            try await eventually("it is over") { try await edge.journal.webSockets() == 0 }
        }
    }

    @Test("the connection can be closed, and the peer's data is still read")
    func closed() async throws {
        try await TestEdge.with {
            $0.closing = .seconds(60)
        } answer: { text, connection in
            guard text == "hold" else { return }
            connection.hold()
            connection.loop.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(300)) {
                connection.close(.badToken)
            }
        } body: { edge in
            let client = try await edge.client()
            try await client.send(.text("hold"))
            for _ in 0..<100 { try await client.send(.text("more")) }
            #expect(try await client.readFrame().closeCode == 4100)
            #expect(try await client.readToEnd() == [])
            try await client.send(.close(4100))
            try await eventually("it is over") { try await edge.journal.webSockets() == 0 }
        }
    }
}
