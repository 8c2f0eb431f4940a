// Where a Redis is looked at, and what whoever looks shows of themselves.

import Logging
import NIOCore
import RollcallRedis

/// A Redis to be looked at.
struct RedisPlace: Sendable {
    let deployment: RedisDeployment
    let credentials: Credentials.Source?
    let eventLoop: any EventLoop
    let timeout: Duration
    let logger: Logger
    /// To be closed when all has been seen.
    let route: any RedisRoute

    init(
        _ deployment: RedisDeployment, credentials: Credentials.Source?, on eventLoop: any EventLoop,
        within timeout: Duration, logger: Logger
    ) {
        (self.deployment, self.credentials, self.eventLoop) = (deployment, credentials, eventLoop)
        (self.timeout, self.logger) = (timeout, logger)
        route = deployment.route(credentials: credentials, on: eventLoop, logger: logger)
    }

    /// A connection there.
    func visit() async throws -> RedisVisit {
        try await RedisVisit(to: route, on: eventLoop, within: timeout, logger: logger)
    }

    /// Another server of the same deployment, which is not to be waited for long.
    func server(at address: RedisLocation.Address) -> RedisPlace {
        var server = deployment
        server.topology = .server(address)
        server.database = 0
        return RedisPlace(
            server, credentials: credentials, on: eventLoop, within: min(timeout, .seconds(1)), logger: logger)
    }
}
