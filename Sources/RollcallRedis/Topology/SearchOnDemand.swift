// Routes with several servers run a search, which is bound to one event loop and used from many.

import NIOCore

/// Finds servers as long as it exists. Bound to its event loop.
protocol ServerSearch: AnyObject, SendableMetatype {
    func start()
    /// Finds a server that can be used.
    func find(_ promise: EventLoopPromise<RedisLocation.Address>)
    /// Ends the search and fails all pending requests.
    func close() -> EventLoopFuture<Void>
}

/// A search that starts when it is first needed. Can be used from any thread.
final class SearchOnDemand<Search: ServerSearch>: Sendable {
    private enum Phase {
        case notBegun
        case going(Search)
        case ended
    }

    private let eventLoop: any EventLoop
    private let phase: NIOLoopBoundBox<Phase>
    private let make: @Sendable () -> Search

    /// - Parameter make: called at most once, on the event loop.
    init(on eventLoop: any EventLoop, making make: @escaping @Sendable () -> Search) {
        self.eventLoop = eventLoop
        self.make = make
        phase = NIOLoopBoundBox.makeBoxSendingValue(.notBegun, eventLoop: eventLoop)
    }

    func find() -> EventLoopFuture<RedisLocation.Address> {
        let promise = eventLoop.makePromise(of: RedisLocation.Address.self)
        eventLoop.execute {
            guard let search = self.running else {
                return promise.fail(RedisError(.closed, "the search for servers was ended"))
            }
            search.find(promise)
        }
        return promise.futureResult
    }

    /// Calls `body` with the search, unless it was ended.
    func tell(_ body: @escaping @Sendable (Search) -> Void) {
        eventLoop.execute {
            if let search = self.running { body(search) }
        }
    }

    /// Ends the search for good.
    func close() async {
        try? await eventLoop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            defer { phase.value = .ended }
            guard case .going(let search) = phase.value else { return eventLoop.makeSucceededVoidFuture() }
            return search.close()
        }.get()
    }

    private var running: Search? {
        switch phase.value {
        case .going(let search): return search
        case .ended: return nil
        case .notBegun:
            let search = make()
            phase.value = .going(search)
            search.start()
            return search
        }
    }
}
