// One HTTP request on a connection of its own: for an issuer's keys, webhooks, operators' commands, and the doctor. The
// server may be slow, endless or broken, and must not affect who asks.

import Foundation
package import NIOCore
package import NIOHTTP1
import NIOPosix
package import NIOSSL
import RollcallRedis

/// The address of a server: `http://HOST:PORT`, or `https`, and what to ask there.
package struct HTTPAddress: CustomStringConvertible, Sendable {
    package let host: String
    package let port: Int
    package let isSecure: Bool
    /// The path and query.
    package let uri: String

    package init?(_ url: String) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else { return nil }
        // An IPv6 address is in brackets in a URL, and without them for a connection.
        self.host = host.first == "[" ? String(host.dropFirst().dropLast()) : host
        isSecure = scheme == "https"
        port = parts.port ?? (isSecure ? 443 : 80)
        // A number that no integer holds is no port either.
        guard (1...65_535).contains(port), parts.port != nil || parts.rangeOfPort == nil else { return nil }
        let path = parts.percentEncodedPath
        uri = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// The value of the `Host` header: without the scheme's own port, which not every server takes (RFC 3986 §6.2.3).
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    package var description: String { "\(isSecure ? "https" : "http")://\(authority)" }
}

/// Asks a server.
package struct HTTPClient: Sendable {
    package struct Answer: Sendable {
        package var status: HTTPResponseStatus
        package var headers: HTTPHeaders
        package var body = ByteBuffer()

        /// How long not to ask again, as `Retry-After` says: in seconds or as a date (RFC 9110 §10.2.3), which counts from the
        /// server's own. At most a day.
        var retryAfter: Duration? {
            guard let text = headers.first(name: "retry-after") else { return nil }
            let now = headers.first(name: "date").flatMap(Self.date) ?? .now
            guard let seconds = Double(text) ?? Self.date(text).map({ $0.timeIntervalSince(now) }) else { return nil }
            return .seconds(seconds.isNaN ? 0 : max(0, min(seconds, 86_400)))
        }

        private static func date(_ text: String) -> Date? {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            return format.date(from: text)
        }
    }

    package enum Failure: Error, CustomStringConvertible {
        /// The connection ended before the answer was complete, or what came is not HTTP.
        case noAnswer(wasSent: Bool, because: (any Error)? = nil)
        case late(Duration, wasSent: Bool)
        case tooLarge(most: Int, HTTPResponseStatus)

        /// Whether the server had the request, or a part of it.
        var wasSent: Bool {
            switch self {
            case .noAnswer(let wasSent, _), .late(_, let wasSent): wasSent
            case .tooLarge: true
            }
        }

        package var description: String {
            switch self {
            case .noAnswer(_, let cause):
                "there was no complete response" + (cause.map { ": \(NetworkFailure.sentence($0))" } ?? "")
            case .late(let limit, _): "there was no complete response within \(limit)"
            case .tooLarge(let most, _): "the response is larger than \(most) bytes"
            }
        }
    }

    package let address: HTTPAddress
    /// The TLS context for an `https` address.
    package let tls: NIOSSLContext?
    /// The time limit for all of it: connecting, the request, and the complete answer.
    package var deadline = Duration.seconds(10)
    /// The limit on the body of the answer.
    package var mostBytes = 16 * 1024 * 1024
    /// Whether the status is all that counts: the answer is complete with its head, however the connection ends.
    var wantsBody = true

    package init(_ address: HTTPAddress, tls: NIOSSLContext?) {
        (self.address, self.tls) = (address, tls)
    }

    /// - Parameters:
    ///   - authority: A file with CA certificates, if the system does not trust the server's.
    ///   - isBeside: Whether those that the system trusts count as well.
    /// - Throws: Errors of TLS.
    init(_ address: HTTPAddress, authority: String?, isBeside: Bool) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authority {
            if isBeside { tls.additionalTrustRoots = [.file(authority)] } else { tls.trustRoots = .file(authority) }
        }
        self.init(address, tls: address.isSecure ? try NIOSSLContext(configuration: tls) : nil)
    }

    /// Sends a request. Redirects are not followed.
    ///
    /// - Throws: ``Failure``; errors of TLS and of the network.
    package func send(
        _ method: HTTPMethod, _ uri: String, headers more: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()
    ) async throws -> Answer {
        var headers: HTTPHeaders = ["host": address.authority, "connection": "close"]
        headers.add(contentsOf: more)
        if method == .POST { headers.add(name: "content-length", value: "\(body.readableBytes)") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: Answer.self)
        let (tls, host, deadline, mostBytes, wantsBody) = (tls, address.host, deadline, mostBytes, wantsBody)
        let wasSent = NIOLoopBoundBox.makeBoxSendingValue(false, eventLoop: loop)
        let late = loop.scheduleTask(in: TimeAmount(deadline)) {
            answer.fail(Failure.late(deadline, wasSent: wasSent.value))
        }
        let port = address.port
        let found = NameLookups.addresses(of: host, port: port, within: deadline, on: loop)
        let channel = found.flatMap { addresses in
            ClientBootstrap(group: loop).connectTimeout(TimeAmount(min(deadline, .seconds(5))))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let tls {
                            // TLS server names cannot be IP addresses (RFC 6066). The certificate is still checked
                            // against the address.
                            let isIP = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: tls, serverHostname: isIP ? nil : host))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(
                            Exchange(
                                head, body, answer, wasSent: wasSent, mostBytes: mostBytes, wantsBody: wantsBody))
                    }
                }
                .connect(to: host, port, at: addresses, on: loop)
        }
        channel.whenFailure { answer.fail($0) }
        defer {
            late.cancel()
            channel.whenSuccess { $0.close(promise: nil) }
        }
        return try await withTaskCancellationHandler {
            try await answer.futureResult.get()
        } onCancel: {
            answer.fail(CancellationError())
        }
    }

    /// Sends the request once the connection is established, and collects the answer.
    private final class Exchange: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let head: HTTPRequestHead
        private let body: ByteBuffer
        private let promise: EventLoopPromise<Answer>
        private let wasSent: NIOLoopBoundBox<Bool>
        private let mostBytes: Int
        private let wantsBody: Bool
        private var answer: Answer?

        init(
            _ head: HTTPRequestHead, _ body: ByteBuffer, _ promise: EventLoopPromise<Answer>,
            wasSent: NIOLoopBoundBox<Bool>, mostBytes: Int, wantsBody: Bool
        ) {
            (self.head, self.body, self.promise, self.wasSent) = (head, body, promise, wasSent)
            (self.mostBytes, self.wantsBody) = (mostBytes, wantsBody)
        }

        func channelActive(context: ChannelHandlerContext) {
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenSuccess { [wasSent] in wasSent.value = true }
            context.write(wrapOutboundOut(.head(head)), promise: sent)
            if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                answer = Answer(status: head.status, headers: head.headers)
                if let answer, !wantsBody { promise.succeed(answer) }
            case .body(var bytes):
                answer?.body.writeBuffer(&bytes)
                guard let answer, answer.body.readableBytes > mostBytes else { return }
                promise.fail(Failure.tooLarge(most: mostBytes, answer.status))
                context.close(promise: nil)
            case .end: if let answer { promise.succeed(answer) }
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            promise.fail(Failure.noAnswer(wasSent: wasSent.value))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let isForeign = error is HTTPParserError
            let failure = Failure.noAnswer(wasSent: wasSent.value, because: isForeign ? nil : error)
            promise.fail(isForeign || wasSent.value ? failure : error)
            context.close(promise: nil)
        }
    }
}

/// Why a server could not be reached, as the system says it.
package enum NetworkFailure {
    package static func sentence(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            sentence(error.connectionErrors[0].error)
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: "no answer in time"
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: TLSFailure(error).description
        default: "\(error)"
        }
    }
}
