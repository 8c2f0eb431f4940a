// The way to a cluster. There is one map for a process: whoever goes by it knows of each change in the same moment, and
// however many were sent elsewhere, one question finds out where everything is.

import Logging
import NIOConcurrencyHelpers
public import NIOCore

/// Leads to the nodes of a Redis Cluster. Whoever asks no more than ``next(on:)`` is led to any node that answers.
public final class ClusterRoute: RedisRoute {
    typealias Address = RedisLocation.Address
    typealias Follower = @Sendable (ClusterMap) -> Void

    private struct State {
        var isClosed = false
        var map: ClusterMap?
        var followers: [ObjectIdentifier: Follower] = [:]
    }

    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let eventLoop: any EventLoop
    private let state = NIOLockedValueBox(State())
    /// Made when it is first needed, for it may be made on its event loop only.
    private let search: NIOLoopBoundBox<ClusterSearch?>
    private let logger: Logger

    init(
        to deployment: RedisDeployment, credentials: @escaping Credentials.Source, on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.deployment = deployment
        self.credentials = credentials
        self.eventLoop = eventLoop
        self.logger = logger
        search = NIOLoopBoundBox.makeEmptyBox(valueType: ClusterSearch.self, eventLoop: eventLoop)
    }

    public var cluster: ClusterRoute? { self }

    public func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        let promise = self.eventLoop.makePromise(of: Address.self)
        self.eventLoop.execute {
            guard let search = self.running else {
                return promise.fail(RedisError(.closed, "the search for the cluster's nodes was ended"))
            }
            search.find(promise)
        }
        return promise.futureResult.hop(to: eventLoop).flatMap { self.way(to: $0).next(on: eventLoop) }
    }

    /// The way to one node.
    func way(to node: Address) -> any RedisRoute {
        ServerRoute(location: deployment.location(at: node), credentials: credentials)
    }

    /// From now on calls `follower` with the map, at once if there is one, and with each that follows, on any thread.
    func follow(_ id: ObjectIdentifier, _ follower: @escaping Follower) {
        let map = state.withLockedValue { state in
            state.followers[id] = follower
            return state.map
        }
        if let map { follower(map) }
        look()
    }

    func unfollow(_ id: ObjectIdentifier) {
        state.withLockedValue { $0.followers[id] = nil }
    }

    /// Somebody was sent elsewhere, or lost a node: the map may be another.
    func look() {
        eventLoop.execute { self.running?.look() }
    }

    public func close() async {
        state.withLockedValue { $0.isClosed = true }
        try? await eventLoop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            let last = search.value
            search.value = nil
            return last?.close() ?? eventLoop.makeSucceededVoidFuture()
        }.get()
    }

    /// Begun with the first question.
    private var running: ClusterSearch? {
        if let search = search.value { return search }
        guard !state.withLockedValue({ $0.isClosed }) else { return nil }
        let search = ClusterSearch(of: deployment, credentials: credentials, on: eventLoop, logger: logger) {
            [weak self] in self?.found($0)
        }
        self.search.value = search
        search.start()
        return search
    }

    private func found(_ map: ClusterMap) {
        logger.info(
            "slots of the cluster", metadata: ["primaries": "\(map.primaries.map { "\($0)" }.joined(separator: ", "))"])
        let followers = state.withLockedValue { state in
            state.map = map
            return state.followers
        }
        for follower in followers.values { follower(map) }
    }
}
