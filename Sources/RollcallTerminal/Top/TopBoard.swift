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

    /// What is not known while Redis is away stays as it was.
    package mutating func answered(_ answer: LiveFigures) {
        trouble = nil
        guard answer.redis.isUp || figures == nil else { return answeredWithoutRedis(answer) }
        figures = answer
        count(answer.workers)
        if answer.redis.isUp { remember(at: answer.time) }
    }

    /// No answer came, at `now` by this host's clock.
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
        // The dead do nothing; those who are gone are forgotten.
        for worker in workers where worker.isAlive {
            // Where Redis's clock was set back, rates begin anew.
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
