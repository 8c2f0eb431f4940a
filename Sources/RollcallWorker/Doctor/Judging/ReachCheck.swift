// Why there is no Redis, or none that lets us in, and what would be done about it.

import NIOCore
import NIOPosix
import RollcallRedis

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Judges how Redis was reached.
struct ReachCheck {
    let location: RedisLocation

    func reached() -> Finding {
        guard location.password == nil, case .host(let host, _) = location.address, !Loopback.contains(host) else {
            return Finding(.redis, .ok, "it answers at \(location)")
        }
        return Finding(
            .redis, .warning, "it answers at \(location) without a password: whoever reaches it can read and write all",
            advice: "give it users (Config/redis.acl), and let nobody but the workers reach its port")
    }

    func failed(_ error: any Error) -> Finding {
        let (found, advice) = verdict(on: error)
        return Finding(.redis, .failure, "\(location): \(found)", advice: advice)
    }

    private func verdict(on error: any Error) -> (found: String, advice: String) {
        guard let error = error as? RedisError else { return ("\(error)", "set redis.url to where Redis is") }
        let answer = (error.underlying as? RedisServerError)?.description ?? error.sentence
        return switch error.code {
        case .connectFailed:
            (Self.reason(error.underlying), "start Redis there, or set redis.url to where it is")
        case .timedOut:
            (
                "something takes connections there and does not answer",
                "it may be stopped or busy with a long command (redis-cli SLOWLOG GET), or be no Redis at all"
            )
        case .authentication: credentials(answer)
        case .server(kind: "LOADING"):
            ("it is loading its data into memory", "wait until it has: workers do, redis.connect_timeout long")
        case .server(kind: "MASTERDOWN"):
            ("a replica that has lost its primary", "set redis.url to the primary")
        case .server(kind: "DENIED"):
            ("it lets in this machine alone (protected mode)", "give its user a password, and bind it to its network")
        case .server: ("it answers: \(answer)", "see what Redis's log says")
        case .protocolError, .connectionLost:
            ("what answers does not speak Redis's protocol", "is it another service's port, or one for TLS?")
        case .notConnected, .tooManyWaiting, .closed: (error.sentence, "try again")
        }
    }

    private func credentials(_ answer: String) -> (found: String, advice: String) {
        if location.password == nil {
            return ("it asks for a password", "set redis.password_file, and the user in redis.url (redis://user@host)")
        }
        return (
            "it refuses the password of the user \(location.username ?? "default") (\(answer))",
            "set redis.password_file and the user in redis.url; ACL LIST says which users there are"
        )
    }

    private static func reason(_ error: (any Error)?) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            reason(error.connectionErrors[0].error)
        case is NIOConnectionError: "there is no host of this name"
        case let error as ChannelError where Self.isTimeout(error): "nothing answers within redis.connect_timeout"
        case let error?: "\(error)"
        case nil: "no connection"
        }
    }

    private static func isTimeout(_ error: ChannelError) -> Bool {
        if case .connectTimeout = error { return true }
        return false
    }
}
