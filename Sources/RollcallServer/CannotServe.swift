// Errors that prevent a correctly configured worker from serving.

internal import RollcallProtocol
internal import RollcallRedis

/// A port or Redis is unavailable. Retrying later may help.
public struct CannotServe: Error, CustomStringConvertible {
    /// What is missing and what to do, in sentences.
    public let description: String
    /// Whether Redis denied the first heartbeat.
    let isDenied: Bool

    package init(description: String) { self.init(description: description, isDenied: false) }

    private init(description: String, isDenied: Bool) {
        (self.description, self.isDenied) = (description, isDenied)
    }

    /// - Parameter lack: What is missing, in a sentence.
    static func lacks(_ lack: String, at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description: "the Redis at \(location) cannot be used by \(location.username ?? "default"): \(lack). "
                + "rollcall doctor says what to do")
    }

    static func tooFewConnections(_ error: RedisError, at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description:
                "the Redis at \(location) does not accept all connections that a worker needs (\(error)): raise its "
                + "maxclients, or set worker.loops to fewer event loops")
    }

    /// - Parameter error: Redis's denial, which names what is not allowed.
    static func denied(_ error: RedisError, at location: RedisDeployment) -> CannotServe {
        CannotServe(
            description:
                "the user \(location.username ?? "default") of the Redis at \(location) lacks rights that a worker "
                + "needs (\(error.sentence)). \(RedisDeployment.rightsFile(ofCluster: location.isCluster)) lists all of them, "
                + "and rollcall doctor names those that are missing",
            isDenied: true)
    }

    /// - Parameter refusal: Redis's error text. Its first word is the kind of error.
    static func refused(_ refusal: ByteString, at location: RedisDeployment) -> CannotServe {
        let advice =
            switch refusal.cut(at: " ")?.before ?? refusal {
            case "NOREPLICAS":
                "it has fewer replicas than required (min-replicas-to-write, min-replicas-max-lag). Check that they "
                    + "run and replicate (INFO replication), or lower min-replicas-to-write"
            case "MISCONF":
                "it cannot save (stop-writes-on-bgsave-error). Check that its disk has space and is writable"
            case "CLUSTERDOWN":
                "some slots have no primary, or most primaries are down (redis-cli --cluster check)"
            case "MOVED", "CROSSSLOT": "it is a node of a cluster: \(RedisDeployment.clusterAdvice)"
            case "OOM": "its memory is full (maxmemory). Give it more memory"
            default: "check its log"
            }
        return CannotServe(description: "the Redis at \(location) refuses writes (\(refusal)): \(advice)")
    }

    /// - Parameter reason: The last error of Redis or the connection, if any.
    static func noLease(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        if let reason, reason.isDenied { return denied(reason, at: location) }
        guard case .server? = reason?.code, let refusal = reason?.reply else {
            if let reason, case .server = reason.code {
                return CannotServe(description: "the Redis at \(location) cannot be used: \(reason.sentence)")
            }
            return noRedis(location, reason: reason)
        }
        if reason?.isUnknownCommand == true {
            return CannotServe(
                description:
                    "the Redis at \(location) does not know a command that a worker needs (\(refusal)): it is older "
                    + "than 6.2, or commands were renamed (rename-command), which scripts do not support. Use ACLs instead "
                    + "to keep other users from these commands")
        }
        return refused(refusal, at: location)
    }

    static func noRedis(_ location: RedisDeployment, reason: RedisError?) -> CannotServe {
        if let reason, reason.code == .authentication {
            return CannotServe(
                description: "the Redis at \(location) does not accept the user or the password (\(reason)): set "
                    + "redis.password_file, and the user in redis.url")
        }
        let reason = reason.map { "\($0)" } ?? "no answer"
        return CannotServe(
            description: "no Redis at \(location) (\(reason)): start one, or set redis.url to its address")
    }
}
