// The common part of both kinds of connection: a channel to Redis that is opened again whenever it is lost, output that
// is sent once per event-loop tick, and a clock that stops while the event loop is stalled.

import Logging
import NIOCore
import NIOPosix

/// The user of a ``Link``. All calls are made on its event loop.
protocol LinkUser: AnyObject {
    /// A channel to this server is open, and nothing has been sent on it.
    func linkOpened(to location: RedisLocation)
    func linkReceived(_ bytes: ByteBuffer)
    /// The last opportunity to write in this event-loop tick.
    func linkWillFlush()
    /// ``Link/now`` has advanced.
    func linkTicked()
    /// The channel was lost, or could not be opened.
    func linkLost(_ error: RedisError)
}

/// A channel to a route's destination that is reopened whenever it is lost.
final class Link {
    private enum State {
        case idle
        /// Asking the route for the destination.
        case asking
        /// Connecting to the destination.
        case dialling(Dial)
        case open(LinkHandler, ticks: RepeatedTask, since: Int)
        case pausing(Scheduled<Void>)
        case closed
    }

    let eventLoop: any EventLoop
    private let route: any RedisRoute
    let settings: ConnectionSettings
    private let logger: Logger
    weak var user: (any LinkUser)?

    var tally = ConnectionTally()

    /// The output buffer; call ``outputGrew()`` after writing.
    var output = ByteBuffer()
    /// The event loop's own time, in ticks. A stall of the loop counts as one tick, even a long one, and afterwards the
    /// loop first reads what waits in its sockets. The loop's own stall is therefore never mistaken for a silent peer.
    private(set) var now = 0

    private var state = State.idle
    /// The destination of the last attempt; `nil` before the first.
    private var destination: Destination?
    private var backoff: Backoff
    private var random = SystemRandomNumberGenerator()
    private var isReading = false
    private var flushIsScheduled = false
    private lazy var flushLater: @Sendable () -> Void = { [bound = NIOLoopBound(self, eventLoop: eventLoop)] in
        bound.value.flush()
    }

    init(along route: any RedisRoute, on eventLoop: any EventLoop, logger: Logger, settings: ConnectionSettings) {
        self.route = route
        self.eventLoop = eventLoop
        self.logger = logger
        self.settings = settings
        backoff = settings.backoff
    }
}

// MARK: Time

extension Link {
    /// The number of ticks between two pings.
    static let ticksPerPing = 4

    private var tick: TimeAmount { TimeAmount(settings.pingEvery / Self.ticksPerPing) }

    /// Whether more time than ``ConnectionSettings/deadAfter`` has passed since `moment`, in ticks.
    func isOverdue(since moment: Int) -> Bool {
        (settings.pingEvery / Self.ticksPerPing) * (now - moment - 1) >= settings.deadAfter
    }

    private func ticked() {
        // The owner was deallocated without closing the link.
        guard let user else { return _ = close() }
        now += 1
        if case .open(_, _, let since) = state, now - since == Self.ticksPerPing { backoff.succeeded() }
        user.linkTicked()
    }
}

// MARK: Connecting and closing

extension Link {
    func start() {
        eventLoop.preconditionInEventLoop()
        guard case .idle = state else { preconditionFailure("a connection is started once") }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        route.watch(ObjectIdentifier(self)) { [eventLoop] in eventLoop.execute { bound.value.routeMoved() } }
        connect()
    }

    /// Closes the link for good.
    func close() -> EventLoopFuture<Void> {
        eventLoop.preconditionInEventLoop()
        let last = state
        state = .closed
        route.unwatch(ObjectIdentifier(self))
        // Breaks a reference cycle: the closure references the link.
        flushLater = {}
        user?.linkLost(RedisError(.closed, "the connection was closed"))
        switch last {
        case .idle, .asking, .closed: break
        case .dialling(let dial): dial.giveUp()
        case .pausing(let pause): pause.cancel()
        case .open(let handler, let ticks, _):
            ticks.cancel()
            return handler.close()
        }
        return eventLoop.makeSucceededVoidFuture()
    }

    /// Drops the current channel and connects again.
    func drop(_ error: RedisError) {
        guard case .open(let handler, let ticks, _) = state else { return }
        ticks.cancel()
        // The state changes first, because closing a channel reports its end before it returns.
        pause(after: error)
        _ = handler.close()
    }

    private func connect() {
        guard user != nil else { return _ = close() }
        state = .asking
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        route.next(on: eventLoop).whenComplete { result in
            switch result {
            case .success(let destination): bound.value.dial(destination)
            case .failure(let error): bound.value.attemptFailed(error)
            }
        }
    }

    private func dial(_ destination: Destination) {
        guard case .asking = state else { return }
        self.destination = destination
        // The route may have moved while it looked up the destination.
        guard route.leads(to: destination) else { return attemptFailed(RedisError.primaryChanged) }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let dial = Dial(to: destination, within: TimeAmount(settings.connectTimeout), on: eventLoop) {
            LinkHandler(bound.value)
        }
        state = .dialling(dial)
        let boundDial = NIOLoopBound(dial, eventLoop: eventLoop)
        dial.begin().whenFailure { bound.value.failed(boundDial.value, $0) }
    }

    private func failed(_ dial: Dial, _ error: any Error) {
        // A cancelled attempt fails as well.
        guard case .dialling(let current) = state, current === dial else { return }
        attemptFailed(error)
    }

    private func attemptFailed(_ error: any Error) {
        guard !isClosed else { return }
        pause(after: error as? RedisError ?? .noConnection(to: destination, error))
    }

    private var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Handles a change of the primary. Open connections leave the old primary, even if it still runs and accepts
    /// writes. Connection attempts to it are cancelled, because a stalled server would delay them.
    private func routeMoved() {
        switch state {
        case .open:
            guard let destination, !route.leads(to: destination) else { return }
            drop(RedisError.primaryChanged)
        case .dialling(let dial):
            guard let destination, !route.leads(to: destination) else { return }
            // A new attempt starts first, because a cancelled attempt fails before `giveUp()` returns.
            connect()
            dial.giveUp()
        case .pausing(let pause):
            pause.cancel()
            connect()
        case .idle, .asking, .closed: break
        }
    }

    func opened(_ handler: LinkHandler) {
        // The link was closed in the meantime, or another of several addresses was faster.
        guard case .dialling = state, let destination else { return _ = handler.close() }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let ticks = eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in bound.value.ticked() }
        state = .open(handler, ticks: ticks, since: now)
        output.clear()
        user?.linkOpened(to: destination.location)
        // The route may have moved while the channel was being opened.
        routeMoved()
    }

    func ended(_ handler: LinkHandler, _ error: (any Error)?) {
        guard case .open(let current, let ticks, _) = state, current === handler else { return }
        ticks.cancel()
        pause(after: .ended(destination, error, heard: handler.heardAnything))
    }

    private func pause(after error: RedisError) {
        let pause = backoff.failed(using: &random)
        logger.debug(
            "no connection to Redis",
            metadata: [
                "redis": "\(destination.map { "\($0.location)" } ?? "")", "error": "\(error)", "pause": "\(pause)",
            ])
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        state = .pausing(eventLoop.scheduleTask(in: TimeAmount(pause)) { bound.value.connect() })
        isReading = false
        user?.linkLost(error)
    }
}

// MARK: Bytes

extension Link {
    /// Ensures that the output is sent at the end of this event-loop tick, or of this read.
    func outputGrew() {
        guard !isReading, !flushIsScheduled else { return }
        flushIsScheduled = true
        eventLoop.execute(flushLater)
    }

    func received(_ bytes: ByteBuffer, from handler: LinkHandler) {
        guard case .open(let current, _, _) = state, current === handler else { return }
        isReading = true
        tally.receivedBytes += bytes.readableBytes
        user?.linkReceived(bytes)
    }

    func readCompleted() {
        isReading = false
        flush()
    }

    private func flush() {
        defer { flushIsScheduled = false }
        guard case .open(let handler, _, _) = state else { return }
        user?.linkWillFlush()
        guard output.readableBytes > 0 else { return }
        tally.sentBytes += output.readableBytes
        handler.send(output)
        output.clear(atMost: 256 * 1024)
    }
}
