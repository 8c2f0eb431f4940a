// Tokens whose key the worker does not have, while its issuer is slow.

import Foundation
import NIOCore
import NIOPosix
import RollcallModel
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("A token whose key is looked for", .timeLimit(.minutes(1)))
struct TokenLookupTests {
    /// The devices were told that their hello was late, although it was the worker that did not answer.
    @Test("a session whose key is not found before its hello's time ends is told to come back")
    func tooSlow() async throws {
        // It listens, and never answers.
        let issuer = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        defer { issuer.close(promise: nil) }
        var auth = WorkerConfiguration.Auth()
        auth.mode = .jwt
        auth.jwksURL = "http://127.0.0.1:\(issuer.localAddress?.port ?? 0)/keys"
        var configuration = WorkerConfiguration()
        configuration.limits.hello = .seconds(1)
        let header = #"{"alg":"ES256","kid":"unknown"}"#
        let token = try await Tokens.hs256(header: header, #"{"sub":"alice","exp":4000000000}"#)
        try await StormyWorker.with(configuration, auth: auth) { worker in
            let client = try RawClient(port: worker.port)
            try await client.send(TestEdge.request())
            _ = try await client.readHead()
            try await client.send(.text(#"{"type":"hello","token":"\#(token)","device":"d"}"#))
            let goodbye = try await client.readFrame()
            #expect(goodbye == .text(#"{"after":2000,"reason":"busy","reconnect":true,"type":"goodbye"}"#))
            #expect(try await client.readFrame().closeCode == 4002)
        }
    }

    /// An app server whose clock was a minute ahead locked its users out for good (4100).
    @Test("a session whose token is not good yet is told to come back, here or elsewhere, in two seconds")
    func issuedAhead() async throws {
        var auth = WorkerConfiguration.Auth()
        auth.mode = .jwt
        auth.secret = Secret(Tokens.secret.utf8)
        let issued = Int(Date().timeIntervalSince1970) + 60
        let token = try await Tokens.hs256(#"{"sub":"alice","iat":\#(issued),"exp":\#(issued + 3600)}"#)
        try await StormyWorker.with(WorkerConfiguration(), auth: auth) { worker in
            let client = try RawClient(port: worker.port)
            try await client.send(TestEdge.request())
            _ = try await client.readHead()
            try await client.send(.text(#"{"type":"hello","token":"\#(token)","device":"d"}"#))
            let goodbye = String(decoding: try await client.readFrame().payload, as: UTF8.self)
            let after = try #require(goodbye.firstMatch(of: #/^{"after":(\d+),"reason":"busy","reconnect":true/#))
            #expect(try #require(Int(after.1)) == 2000, "\(goodbye)")
            #expect(try await client.readFrame().closeCode == 4002)
        }
    }
}
