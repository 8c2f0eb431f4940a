// Errors that prevent a correctly configured worker from serving.

internal import RollcallRedis

/// A port or Redis is unavailable. Retrying later may help.
public struct CannotServe: Error, CustomStringConvertible {
    /// What is missing and what to do, in sentences.
    public let description: String

    /// The ACL rules that the Redis user lacks; empty if another problem stopped the worker.
    public let missingRights: [String]

    package init(description: String, missingRights: [String] = []) {
        self.description = description
        self.missingRights = missingRights
    }

    static func denied(_ rights: [RedisRight], at location: RedisDeployment) -> CannotServe {
        let (user, rules) = (location.username ?? "default", rights.map(\.description))
        return CannotServe(
            description: "the user \(user) of the Redis at \(location) lacks rights that a worker needs. Its "
                + "administrator can grant them with: ACL SETUSER \(user) \(rules.joined(separator: " ")) "
                + "(\(WorkerRights.file(isCluster: location.isCluster)) lists all that a worker needs)",
            missingRights: rules)
    }

    static func unknown(_ commands: [String], at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description: "the Redis at \(location) does not know \(commands.joined(separator: ", ")): it is older than "
                + "6.2, or commands were renamed (rename-command), which scripts do not support. Use ACLs instead to "
                + "keep other users from these commands")
    }

    /// - Parameter refusal: Redis's error text. Its first word is the kind of error.
    static func refused(_ refusal: String, at location: RedisDeployment) -> CannotServe {
        let advice =
            switch refusal.prefix(while: { $0 != " " }) {
            case "NOREPLICAS":
                "it has fewer replicas than required (min-replicas-to-write, min-replicas-max-lag). Check that they "
                    + "run and replicate (INFO replication), or lower min-replicas-to-write"
            case "MISCONF":
                "it cannot save (stop-writes-on-bgsave-error). Check that its disk has space and is writable"
            case "CLUSTERDOWN":
                "some slots have no primary, or most primaries are down (redis-cli --cluster check)"
            case "OOM": "its memory is full (maxmemory). Give it more memory"
            default: "check its log"
            }
        return CannotServe(description: "the Redis at \(location) refuses writes (\(refusal)): \(advice)")
    }

    /// - Parameter reason: The last error of Redis or the connection, if any.
    static func noLease(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        guard case .server? = reason?.code, let refusal = reason?.underlying as? RedisServerError else {
            return noRedis(location, reason: reason)
        }
        return refused("\(refusal)", at: location)
    }

    static func noRedis(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        let reason = reason.map { "\($0)" } ?? "no answer"
        return CannotServe(
            description: "no Redis at \(location) (\(reason)): start one, or set redis.url to its address")
    }
}
