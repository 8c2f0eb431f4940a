// Which servers a deployment has at this moment. One value serves the whole process: all connections learn of a change
// at the same time. A worker that wrote to one server and subscribed at another would miss its own messages.

package import Logging
import NIOConcurrencyHelpers
package import NIOCore

/// The current slot map of a deployment. Can be used from any thread.
public final class Topology: Sendable {
    private struct State {
        var map: SlotMap?
        /// Why there is no map.
        var error: RedisError?
        var followers: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var search: NIOLoopBound<any TopologySearch>?
        var isClosed = false
    }

    /// Whether keys are spread over several servers, each of which may be away alone.
    package let isCluster: Bool
    private let deployment: RedisDeployment
    private let credentials: Credentials.Source?
    private let client: String
    private let lookUpTime: Duration
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - credentials: called for each connection; `nil` to use only those in the URL. TLS requires it.
    ///   - client: the owner, for the names of this object's own connections. The first follower opens them.
    ///   - lookUpTime: how long the look-up of a host's name may take.
    ///   - eventLoop: the event loop of these connections.
    package init(
        of deployment: RedisDeployment, credentials: Credentials.Source? = nil, for client: String = "rollcall",
        lookUpTime: Duration = .seconds(10), on eventLoop: any EventLoop, logger: Logger
    ) {
        (self.deployment, self.credentials, self.client) = (deployment, credentials, client)
        self.lookUpTime = lookUpTime
        (self.eventLoop, self.logger, isCluster) = (eventLoop, logger, deployment.isCluster)
        if case .server(let address) = deployment.kind { state.withLockedValue { $0.map = SlotMap(address) } }
    }

    /// The newest map; `nil` until the servers are found.
    package var map: SlotMap? { state.withLockedValue { $0.map } }

    /// Why there is no map, once everything that can be asked was tried.
    package var error: RedisError? { state.withLockedValue { $0.error } }

    /// The address of the single server that `redis.url` names; `nil` where sentinels or nodes say which servers there are.
    package var nameOfServer: RedisLocation.Address? {
        guard case .server(let address) = deployment.kind,
            makeEndpoint(deployment.location(at: address), .server).name != nil
        else { return nil }
        return address
    }

    /// Returns what a connection to one of the servers needs.
    package func endpoint(at address: SlotMap.Address) -> Endpoint {
        let kind: Endpoint.Kind =
            switch deployment.kind {
            case .server: .primary(isNamedBySentinels: false)
            case .sentinel: .primary(isNamedBySentinels: true)
            case .cluster: .server
            }
        return makeEndpoint(deployment.location(at: address), kind)
    }

    private func makeEndpoint(_ location: RedisLocation, _ kind: Endpoint.Kind) -> Endpoint {
        Endpoint(location, kind: kind, credentials: credentials, lookUpTime: lookUpTime)
    }

    /// Calls `changed` whenever ``map`` or ``error`` changes, on any thread, until ``unfollow(_:)``.
    package func follow(_ id: ObjectIdentifier, _ changed: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.followers[id] = changed }
        eventLoop.execute { self.begin() }
    }

    package func unfollow(_ id: ObjectIdentifier) {
        state.withLockedValue { $0.followers[id] = nil }
    }

    /// Asks for the map again, after a redirection or the loss of a server.
    func look() {
        guard state.withLockedValue({ $0.search }) != nil else { return }
        eventLoop.execute { self.state.withLockedValue { $0.search }?.value.look() }
    }

    /// Ends this object's own connections. It cannot be used afterwards.
    package func close() async {
        try? await eventLoop.flatSubmit { [self] in
            let search = state.withLockedValue { state in
                defer { (state.search, state.isClosed) = (nil, true) }
                return state.search
            }
            return search?.value.close() ?? eventLoop.makeSucceededVoidFuture()
        }.get()
    }

    private func begin() {
        guard state.withLockedValue({ $0.search == nil && !$0.isClosed }) else { return }
        let makeConnection = {
            [deployment, client, eventLoop, logger, makeEndpoint] (address: SlotMap.Address, kind: Endpoint.Kind) in
            var location = deployment.location(at: address)
            if case .sentinel = kind { (location.username, location.password, location.database) = (nil, nil, 0) }
            return CommandConnection(
                to: makeEndpoint(location, kind), name: "\(client)-asks", on: eventLoop, logger: logger,
                settings: ConnectionSettings(pingEvery: .milliseconds(500), deadAfter: .milliseconds(1500)))
        }
        let search: any TopologySearch
        switch deployment.kind {
        case .server: return
        case .sentinel(let sentinels, let name):
            search = SentinelSearch(of: name, at: sentinels, on: eventLoop, logger: logger) {
                makeConnection($0, .sentinel)
            } found: { [weak self] in
                self?.found($0)
            }
        case .cluster(let seeds):
            search = ClusterSearch(from: seeds, on: eventLoop, logger: logger) {
                makeConnection($0, .server)
            } found: { [weak self] in
                self?.found($0)
            }
        }
        state.withLockedValue { $0.search = NIOLoopBound(search, eventLoop: eventLoop) }
        search.start()
    }

    private func found(_ result: Result<SlotMap, RedisError>) {
        let followers = state.withLockedValue { state in
            switch result {
            case .success(let map): (state.map, state.error) = (map, nil)
            case .failure(let error): state.error = error
            }
            return state.followers
        }
        for changed in followers.values { changed() }
    }
}

/// Finds the servers of a deployment as long as it exists. Bound to its event loop. It reports each new map, and why
/// there is none.
protocol TopologySearch: AnyObject {
    func start()
    /// Asks again now, because the map may have changed.
    func look()
    func close() -> EventLoopFuture<Void>
}
