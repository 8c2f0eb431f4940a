// One sweep per loop instead of a timer per connection. It runs about ten times a second, pings the connections whose
// turn it is, and checks the few with pending deadlines.

import NIOCore

/// A connection with too much waiting data.
struct Backlog {
    let connection: EdgeConnection
    /// When the countable bytes exceeded `limits.outbound_bytes`, in the loop's awake time.
    var overSince: Duration?
}

/// How long a peer may take to read the data before a close frame, and to answer that frame.
struct ClosingPatience {
    private let pause: Duration
    private let end: Duration
    /// When to give up unless the peer reads.
    private var until: Duration
    /// The bytes that waited at the last check.
    private var waiting: Int

    init(_ settings: EdgeSettings, waiting: Int, at now: Duration) {
        pause = settings.closing
        end = now + settings.closingAtMost
        until = now + pause
        self.waiting = waiting
    }

    /// - Parameter waiting: The bytes that the kernel has not accepted. Each time some have left, the deadline moves by
    ///   `closing`.
    /// - Returns: Whether to give up.
    mutating func isOver(waiting: Int, at now: Duration) -> Bool {
        if waiting < self.waiting { until = now + pause }
        self.waiting = waiting
        return now >= min(until, end)
    }
}

extension EdgeLoop {
    func joined(_ connection: EdgeConnection) {
        rota.join(connection)
        waiting.append(Waiting(.greeting(connection)))
    }

    func left(_ connection: EdgeConnection) {
        rota.leave(connection)
    }

    /// Checks the connection at every beat until it is no longer backed up.
    func watch(_ connection: EdgeConnection) {
        guard !connection.isWatched else { return }
        connection.isWatched = true
        backlogs.append(Backlog(connection: connection))
    }

    /// Closes the connection if its peer does not in time.
    func awaitEnd(of connection: EdgeConnection) {
        let patience = ClosingPatience(settings, waiting: connection.outboundBytes, at: clock.awake)
        waiting.append(Waiting(.closing(connection, patience)))
    }

    func scheduleBeat() {
        beat = eventLoop.assumeIsolated().scheduleTask(in: settings.beat) { self.sweep() }
    }

    private func sweep() {
        guard !isStopped else { return }
        scheduleBeat()
        guard clock.beat(at: eventLoop.now) else { return }
        rota.turn().forEach { $0.ping() }
        sweepBacklogs()
        sweepWaiting()
        shard.swept(at: clock.awake)
    }

    private func sweepBacklogs() {
        for index in backlogs.indices.reversed() {
            let connection = backlogs[index].connection
            guard connection.isBackedUp else {
                connection.isWatched = false
                backlogs.swapAt(index, backlogs.endIndex - 1)
                backlogs.removeLast()
                continue
            }
            guard connection.countedBytes > settings.outboundBytes else {
                backlogs[index].overSince = nil
                continue
            }
            let since = backlogs[index].overSince ?? clock.awake
            backlogs[index].overSince = since
            if clock.awake - since >= settings.slowFor { connection.closeAsSlow() }
        }
    }

    /// Stops the sweep and ends every connection without a close frame.
    func stop() {
        isStopped = true
        beat?.cancel()
        for case .handshake(let handler, _) in waiting.map(\.stage) { handler.abort() }
        rota.members.forEach { $0.abort() }
        waiting = []
        backlogs = []
    }
}
