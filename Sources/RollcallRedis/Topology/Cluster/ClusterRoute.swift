// The route to a cluster. One map serves the whole process: all connections learn of a change at the same time, and one
// request refreshes the map, even if many commands were redirected.

import Logging
import NIOConcurrencyHelpers
public import NIOCore

/// The route to the nodes of a Redis Cluster. ``next(on:)`` returns any node that answers.
public final class ClusterRoute: RedisRoute {
    typealias Address = RedisLocation.Address
    typealias Follower = @Sendable () -> Void

    private struct State {
        var map: ClusterMap?
        var followers: [ObjectIdentifier: Follower] = [:]
    }

    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let state: NIOLockedValueBox<State>
    private let search: SearchOnDemand<ClusterSearch>

    init(
        to deployment: RedisDeployment, credentials: @escaping Credentials.Source, for client: String,
        on eventLoop: any EventLoop, logger: Logger
    ) {
        self.deployment = deployment
        self.credentials = credentials
        let state = NIOLockedValueBox(State())
        self.state = state
        search = SearchOnDemand(on: eventLoop) {
            ClusterSearch(of: deployment, credentials: credentials, for: client, on: eventLoop, logger: logger) {
                Self.found($0, state, logger)
            }
        }
    }

    public var cluster: ClusterRoute? { self }

    public func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        search.find().hop(to: eventLoop).flatMap { self.way(to: $0).next(on: eventLoop) }
    }

    /// Returns the route to one node.
    func way(to node: Address) -> any RedisRoute {
        ServerRoute(location: deployment.location(at: node), credentials: credentials)
    }

    /// The newest map.
    var map: ClusterMap? { state.withLockedValue { $0.map } }

    /// Calls `follower` now, and whenever ``map`` changes, on any thread.
    func follow(_ id: ObjectIdentifier, _ follower: @escaping Follower) {
        state.withLockedValue { $0.followers[id] = follower }
        follower()
        look()
    }

    func unfollow(_ id: ObjectIdentifier) {
        state.withLockedValue { $0.followers[id] = nil }
    }

    /// Requests a new map, after a redirection or the loss of a node.
    func look() {
        search.tell { $0.look() }
    }

    public func close() async {
        await search.close()
    }

    private static func found(_ map: ClusterMap, _ state: NIOLockedValueBox<State>, _ logger: Logger) {
        let (former, followers) = state.withLockedValue { state in
            defer { state.map = map }
            return (state.map, state.followers)
        }
        if former.map(map.hasSlots) != true {
            let primaries = map.primaries.map { "\($0)" }.joined(separator: ", ")
            logger.info("slots of the cluster", metadata: ["primaries": "\(primaries)"])
        }
        for follower in followers.values { follower() }
    }
}
