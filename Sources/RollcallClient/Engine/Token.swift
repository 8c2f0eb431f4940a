// Where tokens come from, and how long they are valid. The expiry is read from a token if it is a JWT. Its signature is not
// verified; that is the worker's task.

internal import Foundation

/// Why the client asks the app for a token.
public struct TokenRequest: Hashable, Sendable {
    /// A reason. Later versions may have more.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// For a session of its own: the first, or the first after ``RollcallClient/disconnect()``.
        public static let first = Reason(rawValue: "first")
        /// The present token expires soon, or has.
        public static let renewal = Reason(rawValue: "renewal")
        /// A worker did not take the last token, so another is needed (Firebase: `getIDToken(forcingRefresh: true)`).
        public static let refused = Reason(rawValue: "refused")
    }

    public let reason: Reason
    /// Why a worker refused the last token; `nil` for the other reasons.
    public let code: RollcallError.Code?

    static let first = TokenRequest(reason: .first, code: nil)
    static let renewal = TokenRequest(reason: .renewal, code: nil)
    static func refused(_ code: RollcallError.Code) -> TokenRequest { TokenRequest(reason: .refused, code: code) }
}

/// Provides the client's tokens.
package struct TokenSource: Sendable {
    package typealias Answer = @Sendable (Result<String, any Error>) -> Void

    private let begin: @Sendable (TokenRequest, @escaping Answer) -> Task<Void, Never>?

    /// Calls the app's callback.
    package init(_ callback: @escaping @Sendable (TokenRequest) async throws -> String) {
        begin = { request, answer in
            Task {
                let result: Result<String, any Error>
                do { result = .success(try await callback(request)) } catch { result = .failure(error) }
                answer(result)
            }
        }
    }

    /// Uses a function that answers once, at any time.
    package init(asking ask: @escaping @Sendable (@escaping Answer) -> Void) {
        begin = { _, answer in
            ask(answer)
            return nil
        }
    }

    /// - Parameter answer: may be called on any thread.
    func ask(_ request: TokenRequest, _ answer: @escaping Answer) -> Question { Question(task: begin(request, answer)) }

    /// A request that was not answered yet.
    struct Question {
        fileprivate let task: Task<Void, Never>?

        func cancel() { task?.cancel() }
    }
}

/// The calls of the app's token callback: one for all who wait, whose answer counts whenever it comes. At most two are under way,
/// and the first valid answer counts. Used on the client's queue only.
final class TokenCalls: @unchecked Sendable {
    /// How long a call may take until the app is asked again, and how long if the user or the network gives a reason to.
    static let patience = Duration.seconds(60)
    static let shortPatience = Duration.seconds(10)
    private static let most = 2
    /// After how long a call counts as lost, so that two of them do not end the asking.
    private static let lost = Duration.seconds(300)

    private let source: TokenSource
    private let environment: Environment
    private let answered: (Result<String, any Error>) -> Void
    /// In the order in which they began.
    private var calls: [(id: Int, began: ContinuousClock.Instant, question: TokenSource.Question)] = []
    private var lastCall = 0

    /// - Parameter answered: called with a token; or with an error, if no other call is under way, or if the app says that the
    ///   user is signed out.
    init(_ source: TokenSource, in environment: Environment, answered: @escaping (Result<String, any Error>) -> Void) {
        (self.source, self.environment, self.answered) = (source, environment, answered)
    }

    var isAsking: Bool { !calls.isEmpty }

    /// When to ask again; `nil` if no call is under way.
    var deadline: ContinuousClock.Instant? { next(patience: Self.patience) }

    /// When the newest call has had its time, and of two calls the older one is lost.
    private func next(patience: Duration) -> ContinuousClock.Instant? {
        guard let newest = calls.last else { return nil }
        let older = calls.count < Self.most ? nil : calls[calls.count - Self.most].began + Self.lost
        return max(newest.began + patience, older ?? newest.began)
    }

    /// Asks, unless an answer is awaited that may still come.
    func ask(_ request: TokenRequest, patience: Duration = patience) {
        let now = environment.now()
        if let next = next(patience: patience), now < next { return }
        lastCall += 1
        let call = lastCall
        let question = source.ask(request) { [self] result in
            environment.run { [self] in came(result, to: call) }
        }
        calls.append((call, now, question))
    }

    private func came(_ result: Result<String, any Error>, to call: Int) {
        guard let index = calls.firstIndex(where: { $0.id == call }) else { return }
        calls.remove(at: index)
        switch result {
        case .success(let token) where !token.isEmpty: answered(result)
        case .success: if calls.isEmpty { answered(.failure(NoToken())) }
        case .failure(let error): if calls.isEmpty || error.isSignedOut { answered(result) }
        }
    }

    /// Answers to earlier calls no longer count: the next user may be another.
    func forget() {
        for call in calls { call.question.cancel() }
        calls = []
    }

    /// The app returned an empty token: it has none yet.
    private struct NoToken: Error, CustomStringConvertible {
        var description: String { "the token callback returned an empty string" }
    }
}

extension Error {
    /// Whether the app says that its user is signed out.
    var isSignedOut: Bool { (self as? RollcallError)?.code == .badToken }

    /// Whether the token callback failed for want of a network, so that the client would fail too: by Apple's error or Firebase's,
    /// or as the app says.
    var isUnreachable: Bool {
        if let error = self as? RollcallError { return error.code == .unreachable }
        if let error = self as? URLError { return error.isOfNetwork }
        let error = self as NSError
        // AuthErrorCode.networkError
        return error.code == 17020 && error.domain == "FIRAuthErrorDomain"
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

extension URLError {
    fileprivate var isOfNetwork: Bool {
        switch code {
        case .notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost, .cannotConnectToHost,
            .dnsLookupFailed, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            true
        default: false
        }
    }
}

extension Data {
    fileprivate init?(base64URL text: Substring) {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
