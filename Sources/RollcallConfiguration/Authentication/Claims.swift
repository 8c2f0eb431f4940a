// The payload of a token (RFC 7519 §4.1, and `device`).

import JWTKit

/// The claims that Rollcall uses. ``TokenRules`` checks them, because it knows the time.
struct Claims: JWTPayload {
    var sub: String?
    /// Seconds since 1970, possibly fractional.
    var exp: Double?
    var nbf: Double?
    var iat: Double?
    var iss: String?
    var aud: Audience?
    var device: String?

    /// Required by the library, which would check against its own clock.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// One name or several. An empty list is allowed and matches no audience.
    struct Audience: Codable, Sendable {
        var names: [String]

        init(_ name: String) {
            names = [name]
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let name = try? container.decode(String.self) {
                names = [name]
            } else {
                names = try container.decode([String].self)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if names.count == 1 {
                try container.encode(names[0])
            } else {
                try container.encode(names)
            }
        }
    }
}
