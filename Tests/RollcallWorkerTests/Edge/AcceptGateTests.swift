// How a listener reacts when it cannot accept connections, on an event loop whose time the test advances.

import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import RollcallServer

@Suite("A listener without free descriptors")
struct AcceptGateTests {
    private final class Shortages {
        var count = 0
    }

    /// Counts the reads that pass the gate.
    private final class ReadCount: ChannelOutboundHandler {
        typealias OutboundIn = Never
        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
        }
    }

    /// A listener without a socket.
    private struct Listener {
        let loop = EmbeddedEventLoop()
        let channel: EmbeddedChannel
        let reads = ReadCount()
        let shortages = Shortages()

        init() {
            let shortages = shortages
            let gate = AcceptGate(onShortage: { _ in shortages.count += 1 })
            channel = EmbeddedChannel(handlers: [reads, gate], loop: loop)
        }

        func fail(_ code: Int32) {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        }

        /// Whether the gate last enabled reading. The channel keeps every option that is set.
        var isReading: Bool? {
            channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
        }
    }

    /// Regression: NIO retries to accept at once, which used a whole core without a message.
    @Test("accepting pauses for 100 ms", arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func pauses(code: Int32) {
        let listener = Listener()
        listener.fail(code)
        #expect(listener.isReading == false)
        listener.channel.read()
        #expect(listener.reads.count == 0)
        listener.loop.advanceTime(by: .milliseconds(99))
        #expect(listener.isReading == false)
        listener.loop.advanceTime(by: .milliseconds(1))
        #expect(listener.isReading == true)
        listener.channel.read()
        #expect(listener.reads.count == 1)
        #expect(throws: Never.self) { try listener.channel.throwIfErrorCaught() }
    }

    @Test("a shortage is reported once, and the next one a minute after the last failure")
    func reportedOnce() {
        let listener = Listener()
        for _ in 0..<50 {
            listener.fail(EMFILE)
            listener.loop.advanceTime(by: .milliseconds(100))
        }
        #expect(listener.shortages.count == 1)
        listener.loop.advanceTime(by: .seconds(60))
        listener.fail(EMFILE)
        #expect(listener.shortages.count == 2)
    }

    @Test("a connection aborted by its client is not a shortage, and other errors are passed on")
    func others() {
        let listener = Listener()
        listener.fail(ECONNABORTED)
        #expect(throws: Never.self) { try listener.channel.throwIfErrorCaught() }
        listener.fail(EBADF)
        #expect(throws: IOError.self) { try listener.channel.throwIfErrorCaught() }
        #expect(listener.shortages.count == 0)
    }
}
