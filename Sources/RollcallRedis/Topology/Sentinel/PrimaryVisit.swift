// Checks the server that sentinels name before connections go there. During a failover, it may no longer be a primary,
// or not yet.

import Logging
import NIOCore

/// Asks one server whether it is a primary. Bound to its event loop.
final class PrimaryVisit {
    let address: RedisLocation.Address
    private let commands: CommandConnection
    private var told: ((RedisError?) -> Void)?

    /// - Parameter told: called once, with the reason if the server is not a primary, or `nil` if it is; not called
    ///   after ``leave()``.
    init(
        to location: RedisLocation, credentials: @escaping Credentials.Source, for client: String,
        on eventLoop: any EventLoop, logger: Logger, told: @escaping (RedisError?) -> Void
    ) {
        address = location.address
        self.told = told
        // A server that does not answer within a second is not treated as a primary.
        let settings = ConnectionSettings(pingEvery: .milliseconds(250), deadAfter: .seconds(1))
        commands = CommandConnection(
            to: ServerRoute(location: location, credentials: credentials), name: "\(client)-looks", on: eventLoop,
            logger: logger, settings: settings)
        commands.onConnect = { [weak self] in self?.ask() }
        commands.onFailedAttempt = { [weak self] in self?.tell($0) }
        commands.onDisconnect = { [weak self] in self?.tell($0) }
        commands.start()
    }

    /// Cancels the check.
    func leave() {
        told = nil
        _ = commands.close()
    }

    private func ask() {
        commands.send(RedisCommand("ROLE")) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let role):
                tell(SentinelReply.isPrimary(role) ? nil : .noPrimary(at: address))
            // All other errors are reported as the end of the connection.
            case .failure(let error): if case .server = error.code { tell(error) }
            }
        }
    }

    private func tell(_ error: RedisError?) {
        guard let told else { return }
        leave()
        told(error)
    }
}

extension RedisError {
    fileprivate static func noPrimary(at address: RedisLocation.Address) -> RedisError {
        RedisError(
            .server(kind: "READONLY"), command: "ROLE",
            "the sentinels name \(address) as the primary, and it is a replica: a failover may be under way")
    }
}
