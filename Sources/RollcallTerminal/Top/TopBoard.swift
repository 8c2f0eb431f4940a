// The state of `rollcall top`: the last answer, the rates computed from it and earlier ones, and whether answers
// arrive.

package import RollcallModel

/// Everything that is shown about the workers.
package struct TopBoard: Hashable, Sendable {
    /// Why there is no answer.
    package struct Trouble: Hashable, Sendable {
        package var sentence: String
        /// When the trouble began, and when it was last seen, by the clock of this host.
        package var since: Timestamp
        package var until: Timestamp
    }

    /// The values that are drawn as bars.
    package struct History: Hashable, Sendable {
        package var sessions = Sparkline()
        package var signals = Sparkline()
        package var published = Sparkline()
        package var delivered = Sparkline()
    }

    /// The address that is asked.
    package let address: String
    package private(set) var figures: LiveFigures?
    /// The rates by worker.
    package private(set) var rates: [String: LiveRates] = [:]
    package private(set) var history = History()
    package private(set) var trouble: Trouble?

    /// Each worker's state after its last heartbeat, from which the next rate is computed.
    private var counted: [String: LiveFigures.Worker] = [:]

    package init(address: String) {
        self.address = address
    }

    /// The sum of all workers' rates.
    package var total: LiveRates { LiveRates(sum: rates.values) }

    /// The number of sessions on workers that are alive.
    package var sessions: Int64 {
        (figures?.workers ?? []).filter(\.isAlive).reduce(0) { $0.saturatingSum($1.sessions ?? 0) }
    }

    /// Handles an answer. What is unknown while Redis is away keeps its last value.
    package mutating func answered(_ answer: LiveFigures) {
        trouble = nil
        guard answer.redis.isUp || figures == nil else { return answeredWithoutRedis(answer) }
        figures = answer
        count(answer.workers)
        if answer.redis.isUp { remember(at: answer.time) }
    }

    /// Handles a failed request, at `now` by this host's clock.
    package mutating func failed(_ sentence: String, at now: Timestamp) {
        trouble = Trouble(sentence: sentence, since: trouble?.since ?? now, until: now)
        history.miss()
    }

    private mutating func answeredWithoutRedis(_ answer: LiveFigures) {
        var answer = answer
        if let figures { (answer.time, answer.workers) = (figures.time, figures.workers) }
        figures = answer
        history.miss()
    }

    private mutating func count(_ workers: [LiveFigures.Worker]) {
        var (newRates, newCounted): ([String: LiveRates], [String: LiveFigures.Worker]) = ([:], [:])
        // Dead workers do nothing. Workers that are no longer listed are dropped.
        for worker in workers where worker.isAlive {
            // If Redis's clock was set back, rates start again.
            let before = counted[worker.name].flatMap { $0.hasBeaten(after: worker) ? nil : $0 }
            let news = before.flatMap { LiveRates(from: $0, to: worker) }
            newRates[worker.name] = news ?? before.flatMap { _ in rates[worker.name] }
            newCounted[worker.name] = news == nil ? before ?? worker : worker
        }
        (rates, counted) = (newRates, newCounted)
    }

    private mutating func remember(at time: Timestamp) {
        history.sessions.add(Double(sessions), at: time)
        let total = total
        if let signals = total.signals { history.signals.add(signals, at: time) }
        if let published = total.published { history.published.add(published, at: time) }
        if let delivered = total.delivered { history.delivered.add(delivered, at: time) }
    }
}

extension TopBoard.History {
    fileprivate mutating func miss() {
        for line in [\Self.sessions, \.signals, \.published, \.delivered] { self[keyPath: line].miss() }
    }
}

extension LiveFigures.Worker {
    fileprivate func hasBeaten(after other: Self) -> Bool {
        guard let beat, let otherBeat = other.beat else { return false }
        return beat > otherBeat
    }
}
