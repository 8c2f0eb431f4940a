// The part that both kinds of connection share: a channel to Redis that is made anew whenever it is lost, what is
// written in one turn of the event loop sent as one, and a clock that stands still while the loop does.

import Logging
import NIOCore
import NIOPosix

/// What a ``Link`` carries. All calls come on its event loop.
protocol LinkUser: AnyObject {
    /// A channel to this server is open and nothing has been sent on it.
    func linkOpened(to location: RedisLocation)
    func linkReceived(_ bytes: ByteBuffer)
    /// The last chance to write for this turn of the loop.
    func linkWillFlush()
    /// ``Link/now`` has moved on.
    func linkTicked()
    /// The channel is gone, or none came to be.
    func linkLost(_ error: RedisError)
}

/// A channel to where a route leads, that comes back by itself.
final class Link {
    private enum State {
        case idle
        /// Asking the route.
        case asking
        /// On the way to where it leads.
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

    /// What is to be sent; call ``outputGrew()`` after writing.
    var output = ByteBuffer()
    /// The loop's own time, in ticks. A loop that was asleep counts that as one tick, however long it was, and has
    /// read what waited in its sockets before: so its own sleep is never taken for a peer's silence.
    private(set) var now = 0

    private var state = State.idle
    /// Where the last attempt went; `nil` before the first.
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
    /// How many ticks pass between two pings.
    static let ticksPerPing = 4

    private var tick: TimeAmount { TimeAmount(settings.pingEvery / Self.ticksPerPing) }

    /// Whether what began at `moment` has lasted longer than a living peer would let it.
    func isOverdue(since moment: Int) -> Bool {
        (settings.pingEvery / Self.ticksPerPing) * (now - moment - 1) >= settings.deadAfter
    }

    private func ticked() {
        // Its owner has let go of it without a word.
        guard let user else { return _ = close() }
        now += 1
        if case .open(_, _, let since) = state, now - since == Self.ticksPerPing { backoff.succeeded() }
        user.linkTicked()
    }
}

// MARK: Coming and going

extension Link {
    func start() {
        eventLoop.preconditionInEventLoop()
        guard case .idle = state else { preconditionFailure("a connection is started once") }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        route.watch(ObjectIdentifier(self)) { [eventLoop] in eventLoop.execute { bound.value.routeMoved() } }
        connect()
    }

    /// Ends the link for good.
    func close() -> EventLoopFuture<Void> {
        eventLoop.preconditionInEventLoop()
        let last = state
        state = .closed
        route.unwatch(ObjectIdentifier(self))
        // It holds the link, which holds it.
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

    /// Gives the present channel up and tries another.
    func drop(_ error: RedisError) {
        guard case .open(let handler, let ticks, _) = state else { return }
        ticks.cancel()
        // First of all, for closing a channel reports its end before it returns.
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
        // It may have moved while it answered.
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
        // One that was given up has failed, too.
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

    /// The primary is another now. Whoever is with the former leaves it, though it may live and take writes, and whoever is
    /// on the way there turns round: a server that stalls would let them wait.
    private func routeMoved() {
        switch state {
        case .open:
            guard let destination, !route.leads(to: destination) else { return }
            drop(RedisError.primaryChanged)
        case .dialling(let dial):
            guard let destination, !route.leads(to: destination) else { return }
            // First of all, for an attempt that is given up fails before that returns.
            connect()
            dial.giveUp()
        case .pausing(let pause):
            pause.cancel()
            connect()
        case .idle, .asking, .closed: break
        }
    }

    func opened(_ handler: LinkHandler) {
        // Closed meanwhile; or, of several addresses tried at once, another was faster.
        guard case .dialling = state, let destination else { return _ = handler.close() }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let ticks = eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in bound.value.ticked() }
        state = .open(handler, ticks: ticks, since: now)
        output.clear()
        user?.linkOpened(to: destination.location)
        // The news that it moved may have come on the way.
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
    /// Sees that what was written goes out at the end of this turn of the loop, or of this round of reading.
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
