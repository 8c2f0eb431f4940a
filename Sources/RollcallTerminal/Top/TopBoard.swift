// What `rollcall top` knows: the last answer, what was made of it and those before, and whether answers still come.

package import RollcallModel

/// All that is to be shown of the workers.
package struct TopBoard: Hashable, Sendable {
    /// Why there is no answer.
    package struct Trouble: Hashable, Sendable {
        package var sentence: String
        /// By the clock of this host, when it began and when it was last seen.
        package var since: Timestamp
        package var until: Timestamp
    }

    /// What is drawn as a line of bars.
    package struct History: Hashable, Sendable {
        package var sessions = Sparkline()
        package var signals = Sparkline()
        package var published = Sparkline()
        package var delivered = Sparkline()
    }

    /// Where the answers come from.
    package let address: String
    package private(set) var figures: LiveFigures?
    /// By worker.
    package private(set) var rates: [String: LiveRates] = [:]
    package private(set) var history = History()
    package private(set) var trouble: Trouble?

    /// What each worker last said that was news, from which the next rate is counted.
    private var counted: [String: LiveFigures.Worker] = [:]

    package init(address: String) {
        self.address = address
    }

    /// All workers' rates together.
    package var total: LiveRates { LiveRates(sum: rates.values) }

    /// Sessions on the living.
    package var sessions: Int64 {
        (figures?.workers ?? []).filter(\.isAlive).reduce(0) { $0 + ($1.sessions ?? 0) }
    }

    package mutating func answered(_ figures: LiveFigures) {
        var (newRates, newCounted): ([String: LiveRates], [String: LiveFigures.Worker]) = ([:], [:])
        // The dead do nothing; those who are gone are forgotten.
        for worker in figures.workers where worker.isAlive {
            let before = counted[worker.name]
            let news = before.flatMap { LiveRates(from: $0, to: worker) }
            newRates[worker.name] = news ?? rates[worker.name]
            newCounted[worker.name] = news == nil ? before ?? worker : worker
        }
        (rates, counted, self.figures, trouble) = (newRates, newCounted, figures, nil)
        remember(at: figures.time)
    }

    /// No answer came, at `now` by this host's clock.
    package mutating func failed(_ sentence: String, at now: Timestamp) {
        trouble = Trouble(sentence: sentence, since: trouble?.since ?? now, until: now)
    }

    private mutating func remember(at time: Timestamp) {
        history.sessions.add(Double(sessions), at: time)
        let total = total
        if let signals = total.signals { history.signals.add(signals, at: time) }
        if let published = total.published { history.published.add(published, at: time) }
        if let delivered = total.delivered { history.delivered.add(delivered, at: time) }
    }
}
