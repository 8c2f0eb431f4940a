// Pings and pongs on an event loop whose time the test advances.

import Logging
import NIOCore
import NIOEmbedded
import RollcallCore
import RollcallProtocol
import Testing

@testable import RollcallServer

@Suite("Silent connections")
struct SilentConnectionTests {
    /// Counts the flushes.
    private final class FlushCount: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var count = 0

        func flush(context: ChannelHandlerContext) {
            count += 1
            context.flush()
        }
    }

    /// A connection without a socket.
    private struct Line {
        let eventLoop = EmbeddedEventLoop()
        let journal = Journal()
        let channel: EmbeddedChannel
        let connection: EdgeConnection
        let flushes = FlushCount()

        init(_ change: (inout EdgeSettings) -> Void = { _ in }) throws {
            var settings = EdgeSettings()
            change(&settings)
            let shard = RecordingShard(journal) { _, _ in }
            let sessions = SessionCount(limit: 1)
            let loop = EdgeLoop(
                on: eventLoop, settings: settings, sessions: sessions, shard: shard, logger: Logger(label: "edge"))
            connection = EdgeConnection(on: loop)
            channel = EmbeddedChannel(handlers: [flushes, connection], loop: eventLoop)
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
            connection.begin()
        }

        /// The first bytes of the frames that were sent. None is longer than a control frame.
        func sent() throws -> [UInt8] {
            var opcodes: [UInt8] = []
            while var bytes = try channel.readOutbound(as: ByteBuffer.self) {
                while let (opcode, length) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
                    opcodes.append(opcode)
                    bytes.moveReaderIndex(forwardBy: Int(length))
                }
            }
            return opcodes
        }

        func receive(_ frame: ClientFrame) throws {
            try channel.writeInbound(ByteBuffer(bytes: frame.bytes))
        }
    }

    @Test("a connection is pinged once a period, and lost after two missed pings")
    func dead() throws {
        let line = try Line()
        line.eventLoop.advanceTime(by: .seconds(10))
        #expect(try line.sent() == [0x89])
        line.eventLoop.advanceTime(by: .seconds(10))
        #expect(try line.sent() == [0x89])
        #expect(line.channel.isActive)
        line.eventLoop.advanceTime(by: .seconds(10))
        #expect(try line.sent() == [])
        #expect(!line.channel.isActive)
        #expect(line.journal.all == ["connected", "lost"])
    }

    @Test("any byte is a sign of life, even within a frame")
    func alive() throws {
        let line = try Line()
        let message = ClientFrame.text("a long one").bytes
        for byte in message {
            line.eventLoop.advanceTime(by: .seconds(19))
            try line.channel.writeInbound(ByteBuffer(bytes: [byte]))
        }
        #expect(line.channel.isActive)
        #expect(line.journal.all == ["connected", "a long one"])
        #expect(line.connection.lastByte == line.eventLoop.now)
        line.eventLoop.advanceTime(by: .seconds(31))
        #expect(line.journal.all == ["connected", "a long one", "lost"])
        #expect(line.eventLoop.now - line.connection.lastByte == .seconds(31))
    }

    @Test("a period shorter than a tick still gives each connection its ping")
    func shortPeriod() throws {
        let line = try Line { $0.ping = .milliseconds(20) }
        for _ in 0..<5 {
            line.eventLoop.advanceTime(by: .milliseconds(20))
            try line.receive(.pong)
        }
        #expect(try line.sent() == Array(repeating: 0x89, count: 5))
    }

    @Test("pings are answered, but not all of a flood")
    func pongs() throws {
        let line = try Line()
        for _ in 0..<1000 {
            try line.receive(.ping("p"))
        }
        line.eventLoop.run()
        #expect(try line.sent() == Array(repeating: 0x8A, count: 32))
        line.eventLoop.advanceTime(by: .seconds(2))
        try line.receive(.ping("p"))
        line.eventLoop.run()
        #expect(try line.sent().filter { $0 != 0x89 } == [0x8A])
        #expect(line.channel.isActive)
    }

    /// Regression: one session sent twenty million empty fragments per second, and nothing counted them.
    @Test("a flood of frames that complete no message ends the connection", arguments: [9, 10, 0])
    func frameFlood(opcode: UInt8) throws {
        let line = try Line()
        if opcode == 0 { try line.receive(.text("a", isFinal: false)) }
        let frame = ClientFrame(opcode: opcode, payload: [0x61], isFinal: opcode != 0).bytes
        let flood = (0..<1024).flatMap { _ in frame }
        for _ in 0..<(Int(FrameAllowance.frames) / 1024 - 1) { try line.channel.writeInbound(ByteBuffer(bytes: flood)) }
        line.eventLoop.run()
        #expect(line.journal.all == ["connected"])
        for _ in 0..<10 { try line.channel.writeInbound(ByteBuffer(bytes: flood)) }
        line.eventLoop.run()
        #expect(line.journal.all == ["connected", "here 4103"])
        #expect(line.connection.loop.limitCounts.hits[.frames] == 1)
        #expect(try line.sent().suffix(2) == [0x81, 0x88])
        #expect(line.connection.isPaused, "what it sends is left in the kernel")
    }

    @Test("what a tick sends is flushed once, at its end")
    func oneFlush() throws {
        let line = try Line()
        for _ in 0..<20 {
            line.connection.send(.ping)
        }
        #expect(line.flushes.count == 0)
        #expect(line.connection.outboundBytes == 40)
        line.eventLoop.run()
        #expect(line.flushes.count == 1)
        #expect(try line.sent().count == 20)
        #expect(line.connection.outboundBytes == 0)
    }

    @Test("the shard is not notified of an end within its own call")
    func notReentrant() throws {
        let line = try Line()
        line.connection.close(.normal)
        #expect(line.journal.all == ["connected"])
        line.eventLoop.run()
        #expect(line.journal.all == ["connected", "here 1000"])
        #expect(try line.sent() == [0x88])
    }

    @Test("a stopped loop leaves nothing behind")
    func stopped() throws {
        weak var loop: EdgeLoop?
        weak var connection: EdgeConnection?
        do {
            let line = try Line()
            loop = line.connection.loop
            connection = line.connection
            line.connection.send(.ping)
            line.connection.loop.stop()
            line.eventLoop.run()
            #expect(line.journal.all == ["connected", "lost"])
            try line.eventLoop.syncShutdownGracefully()
        }
        #expect(loop == nil && connection == nil)
    }
}
