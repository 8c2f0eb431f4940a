// The address of a Redis to examine, and the credentials for it.

import Logging
import NIOCore
import RollcallRedis

/// A Redis to examine.
struct RedisPlace: Sendable {
    let deployment: RedisDeployment
    let credentials: Credentials.Source?
    let eventLoop: any EventLoop
    let timeout: Duration
    let logger: Logger
    /// Close it after the examination.
    let route: any RedisRoute
    /// Whether this is a cluster or one of its nodes.
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

    /// Opens a connection.
    func visit() async throws -> RedisVisit {
        try await RedisVisit(to: route, on: eventLoop, within: timeout, logger: logger)
    }

    /// Reads a node's view of the cluster.
    ///
    /// - Throws: If no node answers.
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

    /// Another server of the same deployment, with a short timeout.
    func server(at address: RedisLocation.Address, isOfCluster: Bool = false) -> RedisPlace {
        var server = deployment
        server.topology = .server(address)
        server.database = 0
        return RedisPlace(
            server, credentials: credentials, on: eventLoop, within: min(timeout, .seconds(1)),
            isOfCluster: isOfCluster, logger: logger)
    }
}
