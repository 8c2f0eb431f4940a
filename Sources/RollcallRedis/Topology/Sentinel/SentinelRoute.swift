// The way to a primary that sentinels name. All connections of a process go by one route, so that they leave an old primary
// in the same moment: a worker that spoke to one and listened to the other would hear nothing of what it says.

import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Leads to the primary of a name.
final class SentinelRoute: RedisRoute {
    typealias Address = RedisLocation.Address

    private struct State {
        var isClosed = false
        var primary: Address?
        var watchers = RouteWatchers()
    }

    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let eventLoop: any EventLoop
    private let state = NIOLockedValueBox(State())
    /// Made when it is first needed, for it may be made on its event loop only.
    private let search: NIOLoopBoundBox<PrimarySearch?>
    private let logger: Logger

    init(
        to deployment: RedisDeployment, credentials: @escaping Credentials.Source, on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.deployment = deployment
        self.credentials = credentials
        self.eventLoop = eventLoop
        self.logger = logger
        search = NIOLoopBoundBox.makeEmptyBox(valueType: PrimarySearch.self, eventLoop: eventLoop)
    }

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        let promise = self.eventLoop.makePromise(of: Address.self)
        self.eventLoop.execute {
            guard let search = self.running else {
                return promise.fail(RedisError(.closed, "the search for the primary was ended"))
            }
            search.find(promise)
        }
        return promise.futureResult.hop(to: eventLoop).flatMap { [deployment, credentials] address in
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
        state.withLockedValue { $0.isClosed = true }
        try? await eventLoop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            let last = search.value
            search.value = nil
            return last?.close() ?? eventLoop.makeSucceededVoidFuture()
        }.get()
    }

    /// Begun with the first question.
    private var running: PrimarySearch? {
        if let search = search.value { return search }
        guard !state.withLockedValue({ $0.isClosed }) else { return nil }
        let search = PrimarySearch(of: deployment, credentials: credentials, on: eventLoop, logger: logger) {
            [weak self] in self?.found($0)
        }
        self.search.value = search
        search.start()
        return search
    }

    private func found(_ primary: Address) {
        let watchers = state.withLockedValue { state -> RouteWatchers in
            defer { state.primary = primary }
            return state.primary == primary ? RouteWatchers() : state.watchers
        }
        watchers.tell()
    }
}
