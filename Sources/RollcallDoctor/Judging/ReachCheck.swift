// Explains why Redis cannot be reached or refuses the login, and what to do.

import NIOCore
import NIOPosix
import RollcallRedis
import RollcallShards

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Judges how Redis was reached.
struct ReachCheck {
    let deployment: RedisDeployment

    func reached() -> Finding {
        guard deployment.password == nil, !deployment.isHere else {
            return Finding(.redis, .ok, "it answers at \(deployment)")
        }
        return Finding(
            .redis, .warning,
            "it answers at \(deployment) without a password: anyone who can reach it can read and write everything",
            advice: "give it users (Config/redis.acl), and let only the workers reach its port")
    }

    func failed(_ error: any Error) -> Finding {
        let (found, advice) = verdict(on: error)
        return Finding(.redis, .failure, "\(deployment): \(found)", advice: advice)
    }

    private func verdict(on error: any Error) -> (found: String, advice: String) {
        guard let error = error as? RedisError else { return ("\(error)", "set redis.url to the address of Redis") }
        let answer = (error.underlying as? RedisServerError)?.description ?? error.sentence
        return switch error.code {
        case .connectFailed where deployment.hasSentinels && error.underlying is TLSFailure:
            Self.reason(error.underlying)
        case .authentication where deployment.hasSentinels && error.sentence.contains("sentinel"):
            (error.sentence, "set redis.sentinel_user and redis.sentinel_password_file to a user of the sentinels")
        case .connectFailed where deployment.hasSentinels, .server(kind: "READONLY"):
            (error.sentence, "start the sentinels, or correct redis.url; during a failover, check again soon")
        case .connectFailed:
            Self.reason(error.underlying)
        case .timedOut:
            (
                "the server accepts connections but does not answer",
                "it may be stopped or busy with a long command (redis-cli SLOWLOG GET), or not be a Redis"
            )
        case .authentication: credentials(answer)
        case .server(kind: "LOADING"):
            ("it is loading its data into memory", "wait until it is done; workers wait for redis.connect_timeout")
        case .server(kind: "MASTERDOWN"):
            ("a replica that has lost its primary", "set redis.url to the primary")
        case .server(kind: "DENIED"):
            ("it accepts only local connections (protected mode)", "set a password and bind it to its network")
        case .server: ("it answers: \(answer)", "check Redis's log")
        case .connectionLost where error.underlying is TLSFailure:
            Self.reason(error.underlying)
        case .protocolError, .connectionLost:
            (
                "the server does not speak Redis's protocol",
                "check whether the port belongs to another service, or needs TLS (rediss://)"
            )
        case .notConnected, .tooManyWaiting, .replyTooLarge, .closed, .primaryChanged: (error.sentence, "try again")
        }
    }

    private func credentials(_ answer: String) -> (found: String, advice: String) {
        if deployment.password == nil {
            return ("it asks for a password", "set redis.password_file, and the user in redis.url (redis://user@host)")
        }
        return (
            "it refuses the password of the user \(deployment.username ?? "default") (\(answer))",
            "set redis.password_file and the user in redis.url; ACL LIST lists the users"
        )
    }

    /// Why the connection failed, and what to do.
    private static func reason(_ error: (any Error)?) -> (found: String, advice: String) {
        if let failure = error as? TLSFailure { return (failure.description, failure.advice) }
        return (network(error), "start Redis there, or set redis.url to its address")
    }

    private static func network(_ error: (any Error)?) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            network(error.connectionErrors[0].error)
        case is NIOConnectionError: "there is no host with this name"
        case let error as ChannelError where Self.isTimeout(error): "no answer within redis.connect_timeout"
        case let error?: "\(error)"
        case nil: "no connection"
        }
    }

    private static func isTimeout(_ error: ChannelError) -> Bool {
        if case .connectTimeout = error { return true }
        return false
    }
}

extension RedisDeployment {
    fileprivate var hasSentinels: Bool {
        switch topology {
        case .server, .cluster: false
        case .sentinel: true
        }
    }

    /// Whether it is on this machine, possibly through a tunnel.
    var isHere: Bool {
        switch topology {
        case .server(.host(let host, _)): Loopback.contains(host)
        case .server(.unix): true
        case .sentinel(let addresses, _), .cluster(let addresses):
            addresses.allSatisfy { if case .host(let host, _) = $0 { Loopback.contains(host) } else { true } }
        }
    }
}
