// Tokens that come before the worker has their key, or before they are valid.

import Foundation
import NIOCore
import NIOPosix
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("A token that comes early", .timeLimit(.minutes(1)))
struct EarlyTokenTests {
    /// Regression: the devices were told that their hello was late, although the worker did not answer.
    @Test("a session whose key is unknown is told to reconnect, and does not wait for an issuer that does not answer")
    func unknownKey() async throws {
        // A listener that never answers.
        let issuer = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        defer { issuer.close(promise: nil) }
        var auth = WorkerConfiguration.Auth()
        auth.mode = .jwt
        auth.jwksURL = "http://127.0.0.1:\(issuer.localAddress?.port ?? 0)/keys"
        let header = #"{"alg":"ES256","kid":"unknown"}"#
        let token = try Tokens.hs256(header: header, #"{"sub":"alice","exp":4000000000}"#)
        try await StormyWorker.with(WorkerConfiguration(), auth: auth) { worker in
            let client = try RawClient(port: worker.port)
            try await client.send(TestEdge.request())
            _ = try await client.readHead()
            try await client.send(.text(#"{"type":"hello","token":"\#(token)","device":"d"}"#))
            let goodbye = try await client.readFrame()
            #expect(goodbye == .text(#"{"after":2000,"reason":"unknown_key","reconnect":true,"type":"goodbye"}"#))
            #expect(try await client.readFrame().closeCode == 4002)
        }
    }

    /// Regression: an application server whose clock was a minute ahead locked its users out for good (4100).
    @Test("a session whose token is not valid yet is told to reconnect, here or elsewhere, in two seconds")
    func issuedAhead() async throws {
        var auth = WorkerConfiguration.Auth()
        auth.mode = .jwt
        auth.secret = Secret(Tokens.secret.utf8)
        let issued = Int(Date().timeIntervalSince1970) + 60
        let token = try Tokens.hs256(#"{"sub":"alice","iat":\#(issued),"exp":\#(issued + 3600)}"#)
        try await StormyWorker.with(WorkerConfiguration(), auth: auth) { worker in
            let client = try RawClient(port: worker.port)
            try await client.send(TestEdge.request())
            _ = try await client.readHead()
            try await client.send(.text(#"{"type":"hello","token":"\#(token)","device":"d"}"#))
            let goodbye = String(decoding: try await client.readFrame().payload, as: UTF8.self)
            let after = try #require(
                goodbye.firstMatch(of: #/^{"after":(\d+),"reason":"not_yet_valid","reconnect":true/#))
            #expect(try #require(Int(after.1)) == 2000, "\(goodbye)")
            #expect(try await client.readFrame().closeCode == 4002)
        }
    }
}
