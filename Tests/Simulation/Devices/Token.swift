// Tokens as an application issues them.

internal import RollcallCore
internal import RollcallProtocol

/// A signed token, identified by its number.
struct Token: Hashable {
    let user: UserID
    let issued: Instant
    let expires: Instant

    /// Whom it lets its session ask about: in each second of three somebody else.
    func right(_ users: [UserID]) -> WatchRight? {
        [nil, .all, .only(users.prefix(1).map(\.bytes))][Int(issued.nanoseconds / 1_000_000_000 % 3)]
    }

    /// What it says of its user: in each of the first ten seconds something else.
    var profile: Profile {
        Profile(name: ByteString("\(user) \(min(issued.nanoseconds / 1_000_000_000, 10))"))
    }
}

extension World {
    /// Issues a token.
    ///
    /// - Returns: the token's text for the device.
    func issue(to user: UserID, for lifetime: Duration) -> String {
        tokens.append(Token(user: user, issued: agenda.now, expires: agenda.now + lifetime))
        return "\(tokens.count - 1)"
    }

    /// Issues a token with an expiry date, like a JWT.
    func issueJWT(to user: UserID, for lifetime: Duration) -> String {
        let number = issue(to: user, for: lifetime)
        let expires = redis.hostTime(at: agenda.now + lifetime).milliseconds / 1000
        return "e30.\(Self.base64URL("{\"exp\":\(expires)}")).\(number)"
    }

    private static func base64URL(_ text: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var (bits, count) = (0, 0)
        var written: [UInt8] = []
        for byte in text.utf8 {
            (bits, count) = ((bits << 8 | Int(byte)) & 0xFFFF, count + 8)
            while count >= 6 {
                count -= 6
                written.append(digits[bits >> count & 63])
            }
        }
        if count > 0 { written.append(digits[bits << (6 - count) & 63]) }
        return String(decoding: written, as: UTF8.self)
    }

    /// - Returns: `nil` if it was never issued.
    func token(_ text: String) -> Token? {
        let number = text.utf8.split(separator: UInt8(ascii: ".")).last ?? Substring().utf8
        return Int(Substring(number)).flatMap { tokens.indices.contains($0) ? tokens[$0] : nil }
    }
}
