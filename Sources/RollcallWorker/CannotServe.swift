// Why a worker that is configured well does not serve all the same.

internal import RollcallRedis

/// Something that a worker needs is not there: a port, or Redis. Trying again later may help.
public struct CannotServe: Error, CustomStringConvertible {
    /// A sentence that says what is missing and what to do.
    public let description: String

    /// What the user of Redis is not allowed to do, each as the rule that an ACL needs; empty if that is not the matter.
    public let missingRights: [String]

    init(description: String, missingRights: [String] = []) {
        self.description = description
        self.missingRights = missingRights
    }

    static func denied(_ rights: [RedisRight], at location: RedisDeployment) -> CannotServe {
        let (user, rules) = (location.username ?? "default", rights.map(\.description))
        return CannotServe(
            description: "the Redis at \(location) does not let its user \(user) do all that a worker does. Whoever "
                + "looks after it can allow the rest with: ACL SETUSER \(user) \(rules.joined(separator: " ")) "
                + "(Config/redis.acl has all that a worker needs)",
            missingRights: rules)
    }

    static func unknown(_ commands: [String], at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description: "the Redis at \(location) does not know \(commands.joined(separator: ", ")): it is older than "
                + "6.2, or commands were renamed there (rename-command), which scripts cannot follow. Take them away "
                + "from other users by ACLs instead")
    }

    static func noRedis(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        let reason = reason.map { "\($0)" } ?? "no answer"
        return CannotServe(
            description: "no Redis at \(location) (\(reason)): start one, or set redis.url to where it is")
    }
}
