// One sweep a loop instead of a timer a connection. It beats about ten times a second; each beat pings the connections
// whose turn it is and looks at the few that something is pending for.

import NIOCore

/// A connection with more waiting than it should have.
struct Backlog {
    let connection: EdgeConnection
    /// Since when more counts than `limits.outbound_bytes`, in the loop's time.
    var overSince: Duration?
}

extension EdgeLoop {
    func joined(_ connection: EdgeConnection) {
        rota.join(connection)
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
        closing.append(Pending(what: connection, until: clock.awake + settings.closing))
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
        sweepPending()
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

    private func sweepPending() {
        let now = clock.awake
        handshakes.removeAll { pending in
            if pending.until <= now, !pending.what.isOver {
                limitHit(.hello)
                pending.what.giveUp(.late)
            }
            return pending.what.isOver
        }
        closing.removeAll { pending in
            if pending.until <= now { pending.what.abort() }
            return pending.what.phase == .over
        }
    }

    /// Ends the sweep and every connection, without a word to the peers.
    func stop() {
        isStopped = true
        beat?.cancel()
        handshakes.forEach { $0.what.abort() }
        rota.members.forEach { $0.abort() }
        handshakes = []
        backlogs = []
        closing = []
    }
}
