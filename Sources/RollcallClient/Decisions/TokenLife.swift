// A token that is about to expire is replaced before it does, so that no session ends only because time has passed. When
// that is stands in the token itself, if it is a JWT; its signature is the worker's business.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How long a token is good, by the worker's time.
struct TokenLife {
    /// How long before its end a token is replaced, at least; less for one that does not live as long.
    static let slack = Duration.seconds(60)
    /// How soon after a fruitless attempt, or a token that is no fresher, the next one comes.
    static let pause = Duration.seconds(5)

    let expires: Timestamp

    /// - Returns: `nil` for a token that does not say when it expires.
    init?(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Data(base64URL: parts[1]),
            let exp = try? JSONDecoder().decode(Claims.self, from: claims).exp, exp.isFinite
        else { return nil }
        expires = Timestamp(milliseconds: Int64(min(max(0, exp), 253_402_300_799) * 1000))
    }

    /// How long from now a fresh token is to be fetched: before the end by the slack and up to as much again, so that
    /// the clients that connected together do not ask together. `nil` if it is too late for that.
    func refresh(at now: Timestamp, using random: inout some RandomNumberGenerator) -> Duration? {
        let left = expires.since(now)
        guard left > .seconds(1) else { return nil }
        let slack = min(Self.slack, left / 4)
        let jitter = Duration.milliseconds(Int64.random(in: 0...slack.milliseconds, using: &random))
        return left - slack - jitter
    }

    private struct Claims: Decodable {
        var exp: Double
    }
}

extension Data {
    fileprivate init?(base64URL text: Substring) {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
