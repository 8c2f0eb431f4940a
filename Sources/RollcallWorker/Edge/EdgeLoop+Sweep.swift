// One sweep a loop instead of a timer a connection. It beats about ten times a second; each beat pings the connections
// whose turn it is and looks at the few that something is pending for.

import NIOCore

/// A connection with more waiting than it should have.
struct Backlog {
    let connection: EdgeConnection
    /// Since when more counts than `limits.outbound_bytes`, in the loop's time.
    var overSince: Duration?
}

/// How long a peer may take to read what was sent before a close frame, and to answer that.
struct ClosingPatience {
    private let pause: Duration
    private let end: Duration
    /// When the peer is given up unless it reads.
    private var until: Duration
    /// How many bytes waited at the last look.
    private var waiting: Int

    init(_ settings: EdgeSettings, waiting: Int, at now: Duration) {
        pause = settings.closing
        end = now + settings.closingAtMost
        until = now + pause
        self.waiting = waiting
    }

    /// - Parameter waiting: how many bytes wait that the kernel has not taken. Each time that some have left, the peer
    ///   has `closing` more.
    /// - Returns: whether the peer is to be given up.
    mutating func isOver(waiting: Int, at now: Duration) -> Bool {
        if waiting < self.waiting { until = now + pause }
        self.waiting = waiting
        return now >= min(until, end)
    }
}

extension EdgeLoop {
    func joined(_ connection: EdgeConnection) {
        rota.join(connection)
        waiting.append(Waiting(.greeting(connection), since: clock.awake))
    }

    func left(_ connection: EdgeConnection) {
        rota.leave(connection)
    }

    /// Looks at the connection every beat until it is no longer backed up.
    func watch(_ connection: EdgeConnection) {
        guard !connection.isWatched else { return }
        connection.isWatched = true
        backlogs.append(Backlog(connection: connection))
    }

    /// Closes the connection if its peer does not in time.
    func awaitEnd(of connection: EdgeConnection) {
        let patience = ClosingPatience(settings, waiting: connection.outboundBytes, at: clock.awake)
        waiting.append(Waiting(.closing(connection, patience), since: clock.awake))
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

    /// Ends the sweep and every connection, without a word to the peers.
    func stop() {
        isStopped = true
        beat?.cancel()
        for case .handshake(let handler, _) in waiting.map(\.stage) { handler.abort() }
        rota.members.forEach { $0.abort() }
        waiting = []
        backlogs = []
    }
}
