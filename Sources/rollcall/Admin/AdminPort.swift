// Requests to workers' admin ports over HTTP, one per connection.

import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A worker's admin port, as used by the commands.
struct AdminPort {
    let address: AdminAddress
    let token: String?
    /// The TLS context for an `https` address.
    let tls: NIOSSLContext?

    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    typealias Query = [(name: String, value: String)]

    /// The time limit for an answer. A worker itself may take two seconds to end sessions.
    private static let patience = TimeAmount.seconds(10)

    /// Sends a request, and decodes the answer. Failures are logged and thrown as an exit code.
    func ask<Answer: Decodable>(
        _ method: Method, _ path: String..., query: Query = []
    ) async throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(try await told(method, path, query).readableBytesView))
    }

    /// Sends a request whose answer has no content.
    func order(_ method: Method, _ path: String..., query: Query = []) async throws {
        _ = try await told(method, path, query)
    }

    /// Sends a request. Failures are logged and thrown as an exit code.
    private func told(_ method: Method, _ path: [String], _ query: Query) async throws(ExitCode) -> ByteBuffer {
        do {
            return try await send(method, path, query)
        } catch {
            for sentence in error.sentences { Output.log(sentence) }
            throw error.exit
        }
    }

    private func send(_ method: Method, _ path: [String], _ query: Query) async throws(AdminFailure) -> ByteBuffer {
        let fields = query.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
        let uri = "/v1/" + path.map(Self.encoded).joined(separator: "/") + (fields.isEmpty ? "" : "?\(fields)")
        let answer: HTTPExchange.Answer
        do {
            answer = try await exchange(method, uri)
        } catch {
            throw .unreachable(address, error)
        }
        guard (200..<300).contains(answer.status.code) else {
            throw .refused(address, answer, showsToken: token != nil)
        }
        return answer.body
    }

    func exchange(_ method: Method, _ uri: String) async throws -> HTTPExchange.Answer {
        var headers: HTTPHeaders = ["host": address.authority, "connection": "close"]
        if let token { headers.add(name: "authorization", value: "Bearer \(token)") }
        if method == .post { headers.add(name: "content-length", value: "0") }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: uri, headers: headers)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: HTTPExchange.Answer.self)
        let late = loop.scheduleTask(in: Self.patience) { answer.fail(HTTPExchange.NoAnswer()) }
        let (tls, host) = (tls, address.host)
        let channel = ClientBootstrap(group: loop).connectTimeout(.seconds(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        // TLS server names cannot be IP addresses (RFC 6066). The certificate is still checked against
                        // the address.
                        let isIP = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: isIP ? nil : host))
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(HTTPExchange(head, answer))
                }
            }
            .connect(host: address.host, port: address.port)
        channel.whenFailure { answer.fail($0) }
        defer {
            late.cancel()
            channel.whenSuccess { $0.close(promise: nil) }
        }
        return try await answer.futureResult.get()
    }

    /// Percent-encodes every byte except letters, digits and `-`, `_`, `~`.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || "-_~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
