// Sending more than a peer reads, over real sockets.

import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("Fast and slow readers", .timeLimit(.minutes(1)))
struct EdgeSendingTests {
    private func readFlood(_ client: RawClient) async throws {
        for number in 0..<40 {
            let frame = try await client.readFrame()
            #expect(frame.payload == RecordingShard.large(number))
        }
    }

    @Test("everything arrives in order, however long the peer takes to read")
    func inOrder() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 4 << 20
            $0.slowFor = .seconds(60)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("flood"), .text("again"))
            try await readFlood(client)
            try await readFlood(client)
            try await eventually("the shard is notified that it drained") { edge.journal.contains("drained") }
        }
    }

    @Test("one frame goes to many sockets")
    func shared() async throws {
        let frame = ServerFrame(joining: [
            ServerFrame(text: Array("one".utf8)), ServerFrame(text: RecordingShard.large(2)),
        ])
        try await TestEdge.with { _ in
        } answer: { _, connection in
            connection.send(frame)
        } body: { edge in
            var clients: [RawClient] = []
            for _ in 0..<10 {
                clients.append(try await edge.client())
            }
            for client in clients {
                try await client.send(.text("go"), .text("go"))
            }
            for client in clients {
                for _ in 0..<2 {
                    #expect(try await client.readFrame() == .text("one"))
                    #expect(try await client.readFrame().payload == RecordingShard.large(2))
                }
            }
        }
    }

    @Test("a reader that is too slow for too long is closed with a reason")
    func slow() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(500)
            $0.closing = .seconds(20)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("flood"))
            try await eventually("the shard is notified") { edge.journal.contains("here 4001") }
            try await readFlood(client)
            #expect(edge.journal.all == ["connected", "flood", "fell behind", "here 4001"])
            #expect(edge.journal.slowClosures == 1)
            let goodbye = try await client.readFrame()
            #expect(goodbye == .text(#"{"reason":"slow","reconnect":true,"type":"goodbye"}"#))
            #expect(try await client.readFrame().closeCode == 4001)
            #expect(try await client.readToEnd() == [])
        }
    }

    /// Regression: it had three seconds for everything that waited, and lost the close code if it needed more.
    @Test("a slow but steady reader gets everything that waits, and the close code")
    func slowButSteady() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(300)
            $0.closing = .seconds(2)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("flood"))
            try await eventually("the shard is notified") { edge.journal.contains("here 4001") }
            let closed = try await edge.journal.awake()
            for number in 0..<40 {
                #expect(try await client.readFrame().payload == RecordingShard.large(number))
                let next = closed + .milliseconds(100) * (number + 1)
                try await eventually("some time has passed, as the loop counts") {
                    try await edge.journal.awake() >= next
                }
            }
            #expect(try await edge.journal.awake() - closed >= .seconds(4))
            #expect(try await client.readFrame() == .text(#"{"reason":"slow","reconnect":true,"type":"goodbye"}"#))
            #expect(try await client.readFrame().closeCode == 4001)
        }
    }

    @Test("a reader that is being closed has time while it reads, but not forever")
    func patience() {
        var settings = EdgeSettings()
        settings.closing = .seconds(3)
        settings.closingAtMost = .seconds(30)
        func givenUp(_ waiting: (Int) -> Int) -> Int? {
            var patience = ClosingPatience(settings, waiting: waiting(0), at: .zero)
            return (1...100).first { patience.isOver(waiting: waiting($0), at: .seconds($0)) }
        }
        #expect(givenUp { _ in 0 } == 3, "everything was sent; the peer does not answer")
        #expect(givenUp { _ in 1000 } == 3, "the peer reads nothing")
        #expect(givenUp { max(0, 1000 - 100 * $0) } == 13, "it has read all after ten seconds")
        #expect(givenUp { 1000 - min(500, 100 * $0) } == 8, "it stops reading after five")
        #expect(givenUp { 1000 - $0 } == 30, "it reads very slowly")
    }

    @Test("a reader that is slow for a shorter time is not closed")
    func slowButNotTooLong() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .seconds(30)
        } answer: { text, connection in
            if text == "flood" { RecordingShard.flood(text, connection) } else { connection.send(.pong([])) }
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("flood"))
            try await eventually("it is backed up") { edge.journal.contains("flood") }
            try await readFlood(client)
            try await client.send(.text("still here"))
            #expect(try await client.readFrame() == .pong(""))
            #expect(edge.journal.all == ["connected", "flood", "fell behind", "drained", "still here"])
        }
    }

    @Test("a snapshot does not make its reader slow")
    func snapshot() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(300)
        } answer: { text, connection in
            switch text {
            case "snapshot": RecordingShard.flood(text, connection)
            default:
                let counts = "\(connection.outboundBytes > 1 << 20) \(connection.countedBytes < 100)"
                connection.send(ServerFrame(text: Array(counts.utf8)))
            }
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("snapshot"))
            try await eventually("the snapshot waits") { edge.journal.contains("snapshot") }
            let end = try await edge.journal.awake() + .milliseconds(600)
            try await eventually("more than slow_for has passed, as the loop counts") {
                try await edge.journal.awake() > end
            }
            try await client.send(.text("count"))
            try await eventually("the edge has counted") { edge.journal.contains("count") }
            try await readFlood(client)
            #expect(try await client.readFrame() == .text("true true"))
            try await client.send(.text("and now"))
            #expect(try await client.readFrame() == .text("false true"))
        }
    }

    @Test("updates skipped for a reader no longer count once it has read")
    func sparedUntilRead() async throws {
        try await TestEdge.with { _ in
        } answer: { text, connection in
            switch text {
            case "large": connection.send(ServerFrame(text: RecordingShard.large(0)))
            case "spare": connection.spare(ServerFrame(text: RecordingShard.large(0)))
            default: connection.send(ServerFrame(text: Array("\(connection.countedBytes)".utf8)))
            }
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("large"))
            try await eventually("it falls behind") { edge.journal.contains("fell behind") }
            try await client.send(.text("spare"), .text("count"))
            _ = try await client.readFrame()
            let counted = try await client.readFrame()
            #expect(Int(String(decoding: counted.payload, as: UTF8.self)) ?? 0 > RecordingShard.large(0).count)
            try await eventually("it has drained") { edge.journal.contains("drained") }
            try await client.send(.text("count"))
            #expect(try await client.readFrame() == .text("0"))
        }
    }

    @Test("updates skipped for a slow reader count as if they waited")
    func spared() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(500)
        } answer: { text, connection in
            switch text {
            case "spare": for number in 0..<20 { connection.spare(ServerFrame(text: RecordingShard.large(number))) }
            default: connection.send(ServerFrame(text: RecordingShard.large(0)))
            }
        } body: { edge in
            let (reader, other) = (try await edge.client(), try await edge.client(receiveBuffer: 4096))
            for client in [reader, other] { try await client.send(.text("large")) }
            _ = try await reader.readFrame()
            try await eventually("the one falls behind") { edge.journal.contains("fell behind") }
            for client in [reader, other] { try await client.send(.text("spare")) }
            try await eventually("the one is closed") { edge.journal.contains("here 4001") }
            try await reader.send(.text("large"))
            _ = try await reader.readFrame()
            #expect(edge.journal.count("here 4001") == 1)
            #expect(edge.server.connections == 1)
        }
    }

    @Test("the shard is notified that everything was sent at once, or when a slow peer has read it")
    func tellsWhenDrained() async throws {
        try await TestEdge.with { _ in
        } answer: { text, connection in
            for _ in 0..<(Int(text) ?? 0) {
                connection.send(ServerFrame(text: RecordingShard.large(0)), counting: false)
            }
            connection.tellWhenDrained()
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("0"))
            try await eventually("it is logged") { edge.journal.all == ["connected", "0", "drained"] }
            try await client.send(.text("8"))
            try await eventually("it has fallen behind") { edge.journal.contains("fell behind") }
            try await eventually("much later it is still behind") { try await edge.journal.awake() > .seconds(1) }
            #expect(edge.journal.count("drained") == 1)
            for _ in 0..<8 { _ = try await client.readFrame() }
            try await eventually("it is notified again, once") { edge.journal.count("drained") == 2 }
            #expect(edge.journal.all == ["connected", "0", "drained", "8", "fell behind", "drained"])
        }
    }

    @Test("the kernel buffers no more for a peer than it can send soon")
    func unsent() async throws {
        try await TestEdge.with { _ in
        } answer: { text, connection in
            connection.send(ServerFrame(text: RecordingShard.large(0).prefix(1000)))
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            var taken = 0
            while !edge.journal.contains("fell behind") {
                try await client.send(.text("more"))
                taken += 1
                try await eventually("it has answered") { edge.journal.count("more") == taken }
            }
            #expect(taken < 64)
        }
    }

    /// Regression: the session was closed at once, and again after each reconnect.
    @Test("one message that is larger than all that may wait does not close its reader")
    func oneLarge() async throws {
        let size = 512 << 10
        try await TestEdge.with {
            $0.outboundBytes = 16 << 10
            $0.slowFor = .seconds(60)
        } answer: { text, connection in
            let answer = text == "large" ? Array(repeating: UInt8(ascii: "."), count: size) : Array(text.utf8)
            connection.send(ServerFrame(text: answer), counting: text != "large")
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 16_384)
            try await client.send(.text("large"))
            #expect(try await client.readFrame(within: .seconds(30)).payload.count == size)
            try await client.send(.text("still here"))
            #expect(try await client.readFrame() == .text("still here"))
            #expect(edge.journal.all == ["connected", "large", "fell behind", "drained", "still here"])
        }
    }

    @Test("snapshots are limited as well")
    func ceiling() async throws {
        try await TestEdge.with {
            $0.outboundBytes = 64 << 10
            $0.slowFor = .seconds(30)
            $0.closing = .milliseconds(300)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await edge.client(receiveBuffer: 4096)
            try await client.send(.text("snapshot"))
            try await eventually("the shard is notified") { edge.journal.contains("here 4001") }
            try await eventually("no connection is left") { try await edge.journal.webSockets() == 0 }
        }
    }
}
