// Creates clients for tests, with shorter timeouts than in applications.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport

@testable import RollcallClient

extension RollcallClient {
    /// A client of `alice`'s phone.
    static func phone(
        _ url: String, over network: TestNetwork = .nio, _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) -> RollcallClient {
        phone([url], over: network, token: { "alice" }, adjust)
    }

    static func phone(_ urls: [String]) -> RollcallClient {
        phone(urls, token: { "alice" })
    }

    static func phone(_ url: String, token: @escaping @Sendable () async throws -> String) -> RollcallClient {
        phone([url], token: token)
    }

    private static func phone(
        _ urls: [String], over network: TestNetwork = .nio, token: @escaping @Sendable () async throws -> String,
        _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) -> RollcallClient {
        var options = ClientOptions()
        options.longestPause = .milliseconds(100)
        adjust(&options)
        guard network != .nio else {
            return RollcallClient(urls: urls, device: "phone", options: options, token: token)
        }
        return RollcallClient(
            urls: urls, device: "phone", options: options, token: TokenSource { _ in try await token() },
            over: network.network)
    }

    func isConnected() async throws {
        try await eventually("the client is connected") { connection.latest.isConnected }
    }

    func hasFailed() async throws -> RollcallError {
        let found = NIOLockedValueBox<RollcallError?>(nil)
        try await eventually("the client gives up") {
            guard case .failed(let error) = connection.latest else { return false }
            found.withLockedValue { $0 = error }
            return true
        }
        return found.withLockedValue { $0! }
    }

    /// Reads the engine's state on its loop, after everything requested before.
    func inspect<Value: Sendable>(_ look: @escaping @Sendable (Engine) -> Value) async -> Value {
        await withCheckedContinuation { found in engine.run { found.resume(returning: look($0)) } }
    }
}
