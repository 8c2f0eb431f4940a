// Rights of a Redis user, in the form of Redis's access control lists.

/// A right in an ACL.
public enum RedisRight: Hashable, Sendable, CustomStringConvertible {
    /// A command, or one of its subcommands, in lower case: `hset`, `script|load`.
    case command(String)
    /// All keys that match a pattern.
    case keys(String)
    /// All channels that match a pattern.
    case channels(String)

    /// The ACL rule for the right, as `ACL SETUSER` and ACL files accept it.
    public var description: String {
        switch self {
        case .command(let name): "+\(name)"
        case .keys(let pattern): "~\(pattern)"
        case .channels(let pattern): "&\(pattern)"
        }
    }
}
