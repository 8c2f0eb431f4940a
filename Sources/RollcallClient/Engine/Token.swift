// Where tokens come from, and how long they are valid. The expiry is read from a token if it is a JWT. Its signature is not
// verified; that is the worker's task.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Provides the client's tokens.
package struct TokenSource: Sendable {
    package typealias Answer = @Sendable (Result<String, any Error>) -> Void

    private let begin: @Sendable (@escaping Answer) -> Task<Void, Never>?

    /// Calls the app's callback.
    package init(_ callback: @escaping @Sendable () async throws -> String) {
        begin = { answer in
            Task {
                let result: Result<String, any Error>
                do { result = .success(try await callback()) } catch { result = .failure(error) }
                answer(result)
            }
        }
    }

    /// Uses a function that answers once, at any time.
    package init(asking ask: @escaping @Sendable (@escaping Answer) -> Void) {
        begin = { answer in
            ask(answer)
            return nil
        }
    }

    /// - Parameter answer: may be called on any thread.
    func ask(_ answer: @escaping Answer) -> Question { Question(task: begin(answer)) }

    /// A request that was not answered yet.
    struct Question {
        fileprivate let task: Task<Void, Never>?

        func cancel() { task?.cancel() }
    }
}

/// How long a token is valid, by the worker's time.
struct TokenLife {
    /// A token is replaced at least this long before its expiry, or at least a quarter of its remaining life if that is
    /// less.
    static let slack = Duration.seconds(60)

    let expires: Timestamp

    /// - Returns: `nil` for a token without an expiry.
    init?(of token: String) {
        guard let exp = TokenClaims(of: token)?.exp, exp.isFinite else { return nil }
        expires = Timestamp(milliseconds: Int64(min(max(0, exp), 253_402_300_799) * 1000))
    }

    /// Returns how long from now to request a fresh token; `nil` if it is too late for that. The request comes before
    /// the expiry by the slack and a random part of as much again, so that clients that connected together do not ask
    /// together.
    func refresh(at now: Timestamp, using random: inout some RandomNumberGenerator) -> Duration? {
        let left = expires.since(now)
        guard left > .seconds(1) else { return nil }
        let slack = min(Self.slack, left / 4)
        let jitter = Duration.milliseconds(Int64.random(in: 0...slack.milliseconds, using: &random))
        return left - slack - jitter
    }
}

/// The claims of a JWT that a client reads.
struct TokenClaims: Decodable {
    let exp: Double?
    let namesDevice: Bool

    private enum Key: CodingKey { case exp, device }

    /// - Returns: `nil` for a token that is no JWT.
    init?(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Data(base64URL: parts[1]),
            let claims = try? JSONDecoder().decode(Self.self, from: json)
        else { return nil }
        self = claims
    }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: Key.self)
        exp = try? claims.decode(Double.self, forKey: .exp)
        namesDevice = (try? claims.decode(String.self, forKey: .device)) != nil
    }
}

extension Data {
    fileprivate init?(base64URL text: Substring) {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
