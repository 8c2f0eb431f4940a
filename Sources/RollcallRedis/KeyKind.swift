// The kinds of keys that Rollcall has in Redis, to tell what a given key is.

import RollcallModel

/// A kind of key, derived from the form of its name.
package enum KeyKind: String, CaseIterable, Sendable {
    case typists
    case typing
    case presence
    case members
    case revoked
    case workers
    case worker
    case sessions
    case sweeper

    /// The Redis type of such a key, as `TYPE` returns it.
    package var type: String {
        switch self {
        case .typists, .workers: "zset"
        case .typing, .revoked, .sweeper: "string"
        case .presence, .members, .worker: "hash"
        case .sessions: "set"
        }
    }
}

extension KeyNames {
    /// Returns the kind of the key with this name; `nil` if it is not one of Rollcall's.
    package func kind(of key: String) -> KeyKind? {
        guard key.begins(with: prefix) else { return nil }
        let name = key[key.utf8.index(key.startIndex, offsetBy: prefix.utf8.count)...]
        guard let (head, inside) = name.cut(at: "{"), let (tag, rest) = inside.cut(at: "}"), !tag.isEmpty else {
            return nil
        }
        let hasMore = rest.begins(with: ":") && rest.utf8.count > 1
        return switch (head, rest) {
        case ("typing:", ""): .typists
        case ("typing:", _) where hasMore: .typing
        case ("presence:", ""): .presence
        case ("members:", ""): .members
        case ("revoked:", ""): .revoked
        case ("worker:", ":sessions"): .sessions
        case ("worker:", ":sweeper"): .sweeper
        case ("", "") where tag == "workers": .workers
        case ("", _) where tag == "workers" && hasMore: .worker
        default: nil
        }
    }
}
