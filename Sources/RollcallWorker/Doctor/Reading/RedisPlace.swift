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
    /// Whether it is a node of a cluster, or the whole of one.
    let isOfCluster: Bool

    init(
        _ deployment: RedisDeployment, credentials: Credentials.Source?, on eventLoop: any EventLoop,
        within timeout: Duration, isOfCluster: Bool = false, logger: Logger
    ) {
        (self.deployment, self.credentials, self.eventLoop) = (deployment, credentials, eventLoop)
        (self.timeout, self.logger) = (timeout, logger)
        self.isOfCluster = isOfCluster
        route = deployment.route(credentials: credentials, on: eventLoop, logger: logger)
    }

    /// A connection there.
    func visit() async throws -> RedisVisit {
        try await RedisVisit(to: route, on: eventLoop, within: timeout, logger: logger)
    }

    /// What a node says of the cluster that this is.
    ///
    /// - Throws: if none answers.
    func cluster() async throws -> Reading<ClusterReading> {
        let node = try await route.next(on: eventLoop).get()
        let visit = try await RedisVisit(
            to: server(at: node.location.address).route, on: eventLoop, within: timeout, logger: logger)
        let reading: Reading<ClusterReading>
        do throws(Unread) {
            reading = .success(try await ClusterReading(visit, at: node.location.address))
        } catch {
            reading = .failure(error)
        }
        await visit.close()
        return reading
    }

    /// Another server of the same deployment, which is not to be waited for long.
    func server(at address: RedisLocation.Address, isOfCluster: Bool = false) -> RedisPlace {
        var server = deployment
        server.topology = .server(address)
        server.database = 0
        return RedisPlace(
            server, credentials: credentials, on: eventLoop, within: min(timeout, .seconds(1)),
            isOfCluster: isOfCluster, logger: logger)
    }
}
