// What a user of Redis may be allowed to do, in the words of Redis's access control lists.

/// A right that an ACL gives.
public enum RedisRight: Hashable, Sendable, CustomStringConvertible {
    /// A command by its name in small letters, or one of its subcommands: `hset`, `script|load`.
    case command(String)
    /// All keys of a pattern.
    case keys(String)
    /// All channels of a pattern.
    case channels(String)

    /// The rule that gives it, as `ACL SETUSER` and ACL files take it.
    public var description: String {
        switch self {
        case .command(let name): "+\(name)"
        case .keys(let pattern): "~\(pattern)"
        case .channels(let pattern): "&\(pattern)"
        }
    }
}
