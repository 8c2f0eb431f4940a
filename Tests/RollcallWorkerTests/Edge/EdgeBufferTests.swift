// The memory in which messages are assembled: shared by the connections of a loop, but never by two messages.

import Logging
import NIOCore
import NIOEmbedded
import RollcallProtocol
import Testing

@testable import RollcallServer

@Suite("Message buffers")
struct EdgeBufferTests {
    /// Connections without sockets, on one loop.
    private struct Lines {
        let eventLoop = EmbeddedEventLoop()
        let journal = Journal()
        let loop: EdgeLoop

        init(admits: Bool = true) {
            let sessions = SessionCount(limit: 10)
            var settings = EdgeSettings()
            settings.messageBytes = 1 << 20
            loop = EdgeLoop(
                on: eventLoop, settings: settings, sessions: sessions,
                shard: RecordingShard(journal, admits: admits) { _, _ in }, logger: Logger(label: "edge"))
        }

        func connect() throws -> Line {
            let connection = EdgeConnection(on: loop)
            let channel = EmbeddedChannel(handlers: [connection], loop: eventLoop)
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
            connection.begin()
            return Line(channel: channel, connection: connection)
        }

        /// How much memory the loop has for the next message.
        var scratch: Int {
            let buffer = loop.lendScratch()
            defer { loop.returnScratch(buffer) }
            return buffer.storageCapacity
        }
    }

    private struct Line {
        let channel: EmbeddedChannel
        let connection: EdgeConnection

        func receive(_ bytes: [UInt8]) throws {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        }
    }

    private let large = ClientFrame.text(String(repeating: "a", count: 60_000)).bytes

    /// Regression: one byte made a connection keep 64 KiB, or as much as the largest message of any other client.
    @Test("a header without payload keeps no memory, and the start of a message only what has arrived")
    func begun() throws {
        let lines = Lines()
        let (other, one) = (try lines.connect(), try lines.connect())
        for piece in [[0x81], [0x83], [1, 2, 3, 4], [0x61 ^ 1]] as [[UInt8]] {
            try other.receive(large)
            try one.receive(piece)
            #expect(lines.scratch >= 60_000)
        }
        #expect(one.connection.partial?.readableBytes == 1)
        #expect(try #require(one.connection.partial).storageCapacity <= 32)
        try one.receive([0x62 ^ 2, 0x63 ^ 3])
        #expect(lines.journal.all.last == "abc")
        #expect(one.connection.partial == nil)
    }

    @Test("what another connection sends between two fragments is not part of the message")
    func notMixed() throws {
        let lines = Lines()
        let (other, one) = (try lines.connect(), try lines.connect())
        for first in ["", "one "] {
            try one.receive(ClientFrame.text(first, isFinal: false).bytes)
            try other.receive(ClientFrame.text("secret").bytes)
            try one.receive(ClientFrame.ping().bytes + ClientFrame.continuation("two").bytes)
            #expect(lines.journal.all.last == first + "two")
        }
    }

    @Test("a message that arrives in pieces is complete, and takes at most twice its size in memory")
    func growing() throws {
        let lines = Lines()
        let one = try lines.connect()
        let frame = ClientFrame.text(String(repeating: "a", count: 200_000)).bytes
        for start in stride(from: 0, to: frame.count, by: 1000) {
            try one.receive(Array(frame[start..<min(start + 1000, frame.count)]))
            if let partial = one.connection.partial {
                #expect(partial.storageCapacity <= max(32, 2 * partial.readableBytes))
            }
        }
        #expect(lines.journal.all.last == "200000 bytes")
    }

    /// Regression: 2,000 clients without a session made a worker keep 132 MB.
    @Test("a client without a session keeps at most 16 KiB, and a session the size of its message")
    func strangers() throws {
        let lines = Lines(admits: false)
        let (session, stranger) = (try lines.connect(), try lines.connect())
        let isSession = session.connection.takeSeat()
        #expect(isSession)
        let part = ClientFrame.text(String(repeating: "a", count: 60_000), isFinal: false).bytes
        for start in stride(from: 0, to: part.count, by: 512) {
            for line in [session, stranger] { try line.receive(Array(part[start..<min(start + 512, part.count)])) }
        }
        #expect(session.connection.partial?.readableBytes == 60_000)
        #expect(stranger.connection.partial == nil)
        lines.eventLoop.run()
        #expect(lines.journal.all == ["connected", "connected", "here 1009"])
    }

    @Test("fragments before the hello count together, and keep no more than the limit")
    func fragmentsOfStrangers() throws {
        let lines = Lines(admits: false)
        let stranger = try lines.connect()
        try stranger.receive(ClientFrame.text("", isFinal: false).bytes)
        for _ in 0..<16 {
            try stranger.receive(ClientFrame.continuation(String(repeating: "a", count: 1024), isFinal: false).bytes)
            #expect(try #require(stranger.connection.partial).storageCapacity <= 16 * 1024)
        }
        try stranger.receive(ClientFrame.continuation("a", isFinal: false).bytes)
        #expect(stranger.connection.partial == nil)
        lines.eventLoop.run()
        #expect(lines.journal.all == ["connected", "here 1009"])
    }

    @Test("a hello of 16 KiB is accepted, and messages behind it may be larger while its token is verified")
    func largeHello() throws {
        let lines = Lines(admits: false)
        let stranger = try lines.connect()
        try stranger.receive(ClientFrame.text(String(repeating: "a", count: 16 * 1024)).bytes)
        #expect(lines.journal.all == ["connected", "16384 bytes"])
        stranger.connection.hold()
        try stranger.receive(Array(large.prefix(512)))
        #expect(stranger.channel.isActive && stranger.connection.phase == .open)
        #expect(stranger.connection.takeSeat())
        stranger.connection.listen()
        try stranger.receive(Array(large.dropFirst(512)))
        #expect(lines.journal.all == ["connected", "16384 bytes", "60000 bytes"])
    }

    @Test("nothing is kept for a connection that is closing")
    func closing() throws {
        let lines = Lines()
        let one = try lines.connect()
        try one.receive(Array(large.prefix(30_000)))
        #expect(one.connection.partial != nil)
        one.connection.close(.badToken)
        try one.receive(Array(large[30_000..<50_000]))
        #expect(one.connection.partial == nil)
    }

    @Test("the loop does not keep the buffer of a very large message")
    func trimmed() throws {
        let lines = Lines()
        let one = try lines.connect()
        try one.receive(large)
        #expect(lines.scratch >= 60_000)
        try one.receive(ClientFrame.text(String(repeating: "a", count: 500_000)).bytes)
        #expect(lines.journal.all.last == "500000 bytes")
        #expect(lines.scratch <= EdgeLoop.mostScratch)
    }
}
