// What a token says, as it stands in its payload (RFC 7519 §4.1, and `device`).

import JWTKit

/// The claims that count here. What they must be is checked by ``TokenRules``, which knows the time.
struct Claims: JWTPayload {
    var sub: String?
    /// Seconds since 1970; whole or not.
    var exp: Double?
    var nbf: Double?
    var iat: Double?
    var iss: String?
    var aud: Audience?
    var device: String?

    /// Asked for by the library, which would have it decide with a clock of its own.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// One name or several; none at all is allowed too (and meant for nobody).
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
