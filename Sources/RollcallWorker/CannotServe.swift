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
                + "(\(WorkerRights.file(isCluster: location.isCluster)) has all that a worker needs)",
            missingRights: rules)
    }

    static func unknown(_ commands: [String], at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description: "the Redis at \(location) does not know \(commands.joined(separator: ", ")): it is older than "
                + "6.2, or commands were renamed there (rename-command), which scripts cannot follow. Take them away "
                + "from other users by ACLs instead")
    }

    /// - Parameter refusal: Redis's own words, of which the first says what kind it is.
    static func refused(_ refusal: String, at location: RedisDeployment) -> CannotServe {
        let advice =
            switch refusal.prefix(while: { $0 != " " }) {
            case "NOREPLICAS":
                "it wants more replicas than follow it (min-replicas-to-write, min-replicas-max-lag). See that they "
                    + "run and follow (INFO replication), or set min-replicas-to-write lower"
            case "MISCONF":
                "it cannot save (stop-writes-on-bgsave-error). See that its disk has room and can be written to"
            case "CLUSTERDOWN":
                "some slots have no primary, or most primaries are away (redis-cli --cluster check)"
            case "OOM": "it is full (maxmemory). Give it more memory"
            default: "see its log"
            }
        return CannotServe(description: "the Redis at \(location) takes no writes (\(refusal)): \(advice)")
    }

    /// - Parameter reason: what Redis or the way to it said last, if anything.
    static func noLease(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        guard case .server? = reason?.code, let refusal = reason?.underlying as? RedisServerError else {
            return noRedis(location, reason: reason)
        }
        return refused("\(refusal)", at: location)
    }

    static func noRedis(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        let reason = reason.map { "\($0)" } ?? "no answer"
        return CannotServe(
            description: "no Redis at \(location) (\(reason)): start one, or set redis.url to where it is")
    }
}
