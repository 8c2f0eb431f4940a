// The route to a primary that sentinels name. All connections of a process share one route, so that they leave an old
// primary at the same time: a worker that wrote to one server and subscribed at another would miss its own messages.

import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The route to the primary with a name.
final class SentinelRoute: RedisRoute {
    typealias Address = RedisLocation.Address

    private struct State {
        var primary: Address?
        var watchers = RouteWatchers()
    }

    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let state: NIOLockedValueBox<State>
    private let search: SearchOnDemand<PrimarySearch>

    init(
        to deployment: RedisDeployment, credentials: @escaping Credentials.Source, for client: String,
        on eventLoop: any EventLoop, logger: Logger
    ) {
        self.deployment = deployment
        self.credentials = credentials
        let state = NIOLockedValueBox(State())
        self.state = state
        search = SearchOnDemand(on: eventLoop) {
            PrimarySearch(of: deployment, credentials: credentials, for: client, on: eventLoop, logger: logger) {
                Self.found($0, state)
            }
        }
    }

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        search.find().hop(to: eventLoop).flatMap { [deployment, credentials] address in
            Credentials.read(credentials, on: eventLoop).map { deployment.location(at: address).with($0) }
        }
    }

    func leads(to destination: Destination) -> Bool {
        state.withLockedValue { $0.primary == destination.location.address }
    }

    func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.watchers.add(watcher, moved) }
    }

    func unwatch(_ watcher: ObjectIdentifier) {
        state.withLockedValue { $0.watchers.remove(watcher) }
    }

    func close() async {
        await search.close()
    }

    private static func found(_ primary: Address, _ state: NIOLockedValueBox<State>) {
        let watchers = state.withLockedValue { state -> RouteWatchers in
            defer { state.primary = primary }
            return state.primary == primary ? RouteWatchers() : state.watchers
        }
        watchers.tell()
    }
}
