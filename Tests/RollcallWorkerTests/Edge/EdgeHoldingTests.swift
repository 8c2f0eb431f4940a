// A connection of which the shard wants to hear no more for now, over real sockets.

import NIOConcurrencyHelpers
import NIOCore
import RollcallModel
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("Connections that are held", .timeLimit(.minutes(1)))
struct EdgeHoldingTests {
    /// A stranger whose token was still looked at could have a worker keep megabytes.
    @Test("little is read of it, it is not taken for dead, and all arrives in order when the shard listens again")
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
            try await eventually("the last has come") { edge.journal.contains("last") }
            #expect((1...2000).contains(read.withLockedValue { $0 }))
            let said = ["connected", "hold"] + Array(repeating: "60000 bytes", count: 40) + ["last"]
            // Nobody answers pings here: it may be lost by now.
            #expect([said, said + ["lost"]].contains(edge.journal.all))
        }
    }

    @Test("whoever goes meanwhile is gone, and has said what they said")
    func goesMeanwhile() async throws {
        try await TestEdge.with { _ in
        } answer: { text, connection in
            if text == "hold" { connection.hold() }
        } body: { edge in
            let client = try await edge.client()
            try await client.send(.text("hold"))
            for number in 0..<100 { try await client.send(.text("\(number)")) }
            client.close()
            try await eventually("the shard hears of it") { edge.journal.contains("lost") }
            #expect(edge.journal.all == ["connected", "hold"] + (0..<100).map { "\($0)" } + ["lost"])
            try await eventually("it is over") { try await edge.journal.webSockets() == 0 }
        }
    }

    @Test("it can be closed, and hears the peer out")
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
