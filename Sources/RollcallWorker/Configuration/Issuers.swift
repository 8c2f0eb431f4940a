// Several sign-ins in one deployment: each with its own keys and claims, and a prefix, so that the same `sub` at two of them is
// two users.

import Foundation
import RollcallProtocol
import RollcallServer

extension Setting {
    /// A list of sections in the file; in a flag or a variable the same as JSON.
    static func issuers(_ key: String) -> Setting {
        Setting(
            key: key,
            expected: "a list of sections, each with iss, with secret_file, jwks_file or jwks_url, and if wanted with "
                + "audience, algorithms, jwks_authority, user_claim, name_claim and prefix",
            read: { text, configuration in
                guard !text.isEmpty else { return true }
                let sections = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
                let issuers = (sections ?? []).compactMap { section in
                    WorkerConfiguration.Auth(issuer: section)
                }
                configuration.auth.issuers = issuers
                return sections?.count == issuers.count
            },
            show: { configuration in
                let sections = configuration.auth.issuers.map(\.section)
                let text = try? JSONSerialization.data(
                    withJSONObject: sections, options: [.sortedKeys, .withoutEscapingSlashes])
                return sections.isEmpty ? "" : String(decoding: text ?? Data(), as: UTF8.self)
            },
            isAllowed: { configuration in
                let names = Set(VerificationKeys.Algorithm.allCases.map(\.rawValue))
                return configuration.auth.issuers.allSatisfy { issuer in
                    issuer.algorithms.allSatisfy(names.contains)
                        && issuer.jwksURL.map(WorkerConfiguration.isServerURL) ?? true
                        && !issuer.userClaim.isEmpty
                }
            })
    }
}

// An entry of `auth.issuers`.
extension WorkerConfiguration.Auth {
    private static var texts: [(key: String, path: WritableKeyPath<Self, String?>)] {
        [
            ("iss", \.issuer), ("audience", \.audience), ("prefix", \.prefix), ("secret_file", \.secretFile),
            ("jwks_file", \.jwksFile), ("jwks_url", \.jwksURL), ("jwks_authority", \.jwksAuthority),
            ("name_claim", \.nameClaim),
        ]
    }

    /// - Returns: `nil` if a key or a value is not known.
    fileprivate init?(issuer section: [String: Any]) {
        self = WorkerConfiguration().auth
        for (key, value) in section {
            if let path = Self.texts.first(where: { $0.key == key })?.path, let text = value as? String {
                self[keyPath: path] = text.isEmpty ? nil : text
            } else if key == "user_claim", let text = value as? String {
                userClaim = text
            } else if key == "algorithms", let list = value as? [String] {
                algorithms = list
            } else {
                return nil
            }
        }
    }

    fileprivate var section: [String: Any] {
        var section = Self.texts.reduce(into: [String: Any]()) { $0[$1.key] = self[keyPath: $1.path] }
        (section["user_claim"], section["algorithms"]) = (userClaim, algorithms)
        return section
    }
}

extension WorkerConfiguration.Auth {
    /// What is wrong with the issuers together; `nil` if nothing is.
    var problemOfIssuers: String? {
        guard !issuers.isEmpty else { return nil }
        if [secretFile, previousSecretFile, jwksFile, jwksURL, issuer, audience].contains(where: { $0 != nil }) {
            return "with auth.issuers, keys, issuer and audience stand in its entries, and nothing of them beside it"
        }
        for (number, each) in issuers.enumerated() {
            guard let issuer = each.issuer, !issuer.isEmpty else { return "entry \(number + 1) has no iss" }
            guard each.secretFile != nil || each.jwksFile != nil || each.jwksURL != nil else {
                return "the issuer \(issuer) has no secret_file, jwks_file or jwks_url"
            }
        }
        let names = issuers.compactMap(\.issuer).map(ByteString.init)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            return "the issuer \(twice) is named twice: iss picks exactly one"
        }
        let without = issuers.filter { $0.prefix == nil }.compactMap(\.issuer)
        if without.count > 1 {
            return
                "only one issuer may have no prefix, and \(without.joined(separator: " and ")) have none: the same sub at two of "
                + "them would be one user"
        }
        let prefixes = issuers.compactMap(\.prefix).map(ByteString.init)
        for (place, prefix) in prefixes.enumerated() {
            guard (try? UserID(prefix.string)) != nil, prefix.utf8.count <= 64 else {
                return
                    "the prefix \(prefix.shown) must have 1 to 64 bytes without white space and braces, such as \"acme:\""
            }
            if prefixes.enumerated().contains(where: { $0 != place && $1.utf8.starts(with: prefix.utf8) }) {
                return
                    "the prefix \(prefix.shown) is the beginning of another: users of two issuers could have one name"
            }
        }
        return nil
    }
}
