// Connections that occupy the admin port without sending requests.

import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import RollcallAdmin

@Suite("Connections of the admin port", .timeLimit(.minutes(1)))
struct AdminConnectionsTests {
    /// Creates a connection as the port does.
    private func connection(among connections: AdminConnections = AdminConnections()) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false)
        _ = try AdminConnection(channel, among: connections)
        return channel
    }

    private let post = "POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"

    private func answer(_ channel: EmbeddedChannel) throws {
        channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
        try channel.writeAndFlush(HTTPServerResponsePart.end(nil)).wait()
    }

    @Test("a connection is closed if the head of its request takes more than five seconds, even if bytes keep arriving")
    func lateHead() throws {
        let channel = try connection()
        for byte in post.utf8.prefix(4) {
            try channel.writeInbound(ByteBuffer(bytes: [byte]))
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(1240))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(40))
        #expect(!channel.isActive)
    }

    @Test("a connection is closed if the body takes more than ten seconds, but not while it is answered")
    func lateBody() throws {
        let channel = try connection()
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        try channel.writeInbound(ByteBuffer(string: post + "a"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "bcd"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: post + "a"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test("the head of a later request has five seconds from its first byte")
    func laterHead() throws {
        let channel = try connection()
        try channel.writeInbound(ByteBuffer(string: post + "abcd"))
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        try channel.writeInbound(ByteBuffer(string: "P"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    /// Regression: each of them counted as being answered from then on. 128 such connections blocked the port for good,
    /// without a token.
    @Test("a connection whose request was refused early makes room, and its next head has five seconds")
    func answeredEarly() throws {
        let connections = AdminConnections()
        let held = try (0..<AdminConnections.most).map { _ in
            let channel = try connection(among: connections)
            try channel.writeInbound(ByteBuffer(string: post))
            try answer(channel)
            try channel.writeInbound(ByteBuffer(string: "abcd"))
            return channel
        }
        let new = try connection(among: connections)
        #expect(new.isActive && !held[0].isActive)
        let closed = held.count { !$0.isActive }
        #expect(closed == 1)
        held[1].embeddedEventLoop.advanceTime(by: .seconds(20))
        try held[1].writeInbound(ByteBuffer(string: "P"))
        held[1].embeddedEventLoop.advanceTime(by: .milliseconds(4990))
        #expect(held[1].isActive)
        held[1].embeddedEventLoop.advanceTime(by: .milliseconds(20))
        #expect(!held[1].isActive)
    }

    /// Regression: 128 connections that sent requests without reading the answers kept all other clients out.
    @Test("a client that reads nothing of its answer for ten seconds is closed, and makes room before")
    func unread() throws {
        let channel = try connection()
        func writable(_ isWritable: Bool) {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
        }
        try channel.writeInbound(ByteBuffer(string: post + "abcd"))
        writable(false)
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        writable(true)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        writable(false)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    /// Regression: the ten seconds began with the answer, and only an answer that was nearly read ended them.
    @Test("a client that has read something of a large answer has ten seconds for more")
    func readSlowly() throws {
        let channel = try connection()
        /// Sets how much of the answer waits.
        func wait(_ count: Int) {
            channel.flush()
            let piece = ByteBuffer(repeating: 0, count: count)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(piece)), promise: nil)
        }
        try channel.writeInbound(ByteBuffer(string: post + "abcd"))
        channel.write(
            HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok, headers: ["content-length": "900"])),
            promise: nil)
        wait(400)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        for count in [300, 200, 100] {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            wait(count)
        }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(9900))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test("a client that reads a large answer steadily receives all of it")
    func readSteadily() async throws {
        let size = 12 << 20
        let connections = AdminConnections(readTime: .seconds(3))
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.socketOption(.so_sndbuf), value: 1 << 16)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(
                        withPipeliningAssistance: false, withErrorHandling: false)
                    _ = try AdminConnection(channel, among: connections)
                    try pipeline.addHandler(LargeAnswer(size: size))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        defer { server.close(promise: nil) }
        let client = try RawClient(port: server.localAddress?.port ?? 0, receiveBuffer: 1 << 16)
        try await client.send("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        // At most 32 KiB each time, so that it takes some six seconds. Tasks may pause for seconds on a busy machine.
        let count = await withCheckedContinuation { done in
            Thread.detachNewThread {
                var count = 0
                while count <= size, !client.hasEnded {
                    count += client.readPiece(of: 1 << 15)
                    Thread.sleep(forTimeInterval: 0.015)
                }
                done.resume(returning: count)
            }
        }
        #expect(count > size)
    }

    /// Answers each request with one buffer.
    private final class LargeAnswer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let size: Int

        init(size: Int) {
            self.size = size
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "\(size)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(repeating: 0, count: size)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    @Test("a connection with a second request stays until both answers were sent")
    func pipelined() throws {
        let channel = try connection()
        try channel.writeInbound(ByteBuffer(string: post + "abcd" + post + "abcd"))
        try answer(channel)
        try channel.writeInbound(ByteBuffer(string: "P"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        try answer(channel)
        try channel.writeInbound(ByteBuffer(string: "O"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(6))
        #expect(!channel.isActive)
    }

    /// Regression: 128 of them delayed `GET /health` by a minute, without a token.
    @Test("if incomplete requests fill the port, the oldest make room first")
    func full() async throws {
        try await withAdmin(connections: AdminConnections(headTime: .hours(1))) { ask in
            let half = "GET /health HTTP/1.1\r\nHost: local"
            var held = [try RawClient(port: ask.port)]
            // An answered request was read. So this connection has certainly been silent for the longest time.
            try await held[0].send(half + "host\r\n\r\n" + half)
            #expect(try await held[0].readHead().contains("200"))
            for _ in 1..<AdminConnections.most {
                let client = try RawClient(port: ask.port)
                try await client.send(half)
                held.append(client)
            }
            var health = ""
            for _ in 0..<5 {
                let answer = try await ask("GET", "/health")
                #expect(answer.status == 200)
                health = answer.body
            }
            #expect(String(decoding: try await held[0].readToEnd(), as: UTF8.self) == health)
            try await held[127].send("host\r\n\r\n")
            #expect(try await held[127].readHead().contains("200"))
        }
    }
}
