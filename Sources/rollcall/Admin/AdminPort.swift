// The operators' way to the workers: HTTP, one request a connection.

import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import RollcallModel
import RollcallTerminal

/// A worker's admin port, as the commands ask it. What goes wrong is told to the person, and thrown as the exit code.
struct AdminPort {
    let address: AdminAddress
    let token: String?

    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    typealias Query = [(name: String, value: String)]

    /// How long an answer may take: workers have two seconds to end sessions.
    private static let patience = TimeAmount.seconds(10)

    /// Asks, and reads the answer.
    func ask<Answer: Decodable>(
        _ method: Method, _ path: String..., query: Query = []
    ) async throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(try await send(method, path, query).readableBytesView))
    }

    /// Asks for something of which there is nothing to tell.
    func order(_ method: Method, _ path: String..., query: Query = []) async throws {
        _ = try await send(method, path, query)
    }

    private func send(
        _ method: Method, _ path: [String], _ query: Query
    ) async throws -> ByteBuffer {
        let fields = query.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
        let uri = "/v1/" + path.map(Self.encoded).joined(separator: "/") + (fields.isEmpty ? "" : "?\(fields)")
        let answer: HTTPExchange.Answer
        do {
            answer = try await exchange(method, uri)
        } catch {
            throw unreachable(error)
        }
        guard (200..<300).contains(answer.status.code) else { throw refused(answer) }
        return answer.body
    }

    private func exchange(_ method: Method, _ uri: String) async throws -> HTTPExchange.Answer {
        var headers: HTTPHeaders = ["host": address.authority, "connection": "close"]
        if let token { headers.add(name: "authorization", value: "Bearer \(token)") }
        if method == .post { headers.add(name: "content-length", value: "0") }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: uri, headers: headers)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: HTTPExchange.Answer.self)
        let late = loop.scheduleTask(in: Self.patience) { answer.fail(HTTPExchange.NoAnswer()) }
        let channel = ClientBootstrap(group: loop).connectTimeout(.seconds(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
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

    /// Every byte that is not certain to mean itself is percent-encoded.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || "-_~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

extension AdminPort {
    private func unreachable(_ error: any Error) -> ExitCode {
        let reason =
            switch error {
            case is HTTPExchange.NoAnswer: "it does not answer as an admin port does"
            case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
                (error.connectionErrors[0].error as? IOError).map { String(cString: strerror($0.errnoCode)) }
                    ?? "\(error)"
            default: "\(error)"
            }
        Output.log("no worker answers at \(address): \(Shown.text(reason))")
        Output.log("Name another with --admin URL: the ready line of a worker says where its admin port is (admin=…).")
        return .cannotServe
    }

    private func refused(_ answer: HTTPExchange.Answer) -> ExitCode {
        struct Problem: Decodable {
            var code: String
            var detail: String
        }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body.readableBytesView))
        Output.log("\(address): \(Shown.text(problem?.detail ?? "\(answer.status)"))")
        switch answer.status {
        case .unauthorized where token == nil:
            Output.log("Show the worker's token with --token-file FILE, the file of its admin.token_file.")
        case .unauthorized: Output.log("The token of --token-file is not the one of the worker's admin.token_file.")
        case .serviceUnavailable: return .cannotServe
        default: break
        }
        return .failure
    }
}
