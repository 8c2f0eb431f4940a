// Holds what was seen in a round against what should have been.

internal import Harness
internal import RollcallClient

/// Everything there is to judge a round by.
struct Judge {
    let plan: Plan
    let sights: [Sight]
    let reads: [Read]
    let notes: [(user: UserID, notes: [Note])]
    let end: Moment

    func findings() -> [Finding] {
        plan.findings + plan.expectations.flatMap(findings(of:)) + plan.prohibitions.flatMap(findings(of:))
            + setbacks() + lostConnections()
    }

    // MARK: What should be seen

    private func findings(of expectation: Expectation) -> [Finding] {
        let end = expectation.until ?? self.end
        return sights.flatMap { findings(of: expectation, in: $0, by: end) } + misreadings(of: expectation, by: end)
    }

    private func findings(of expectation: Expectation, in sight: Sight, by end: Moment) -> [Finding] {
        let blindness = blindness(of: sight).filter { $0.upperBound > expectation.since && $0.lowerBound < end }
        guard !blindness.contains(where: { $0.upperBound >= end }) else { return [] }
        let what = "\(sight.name) \(expectation.thing)"
        guard let settled = sight.settled(expectation.thing, by: end) else {
            return [Finding(expectation.promise, limit: expectation.within, broken: "\(what): not seen at the end")]
        }
        let took = max(.zero, settled - expectation.since)
        if took <= expectation.within { return [Finding(expectation.promise, took: took, limit: expectation.within)] }
        if let sighted = blindness.map(\.upperBound).max(), settled <= sighted + Promise.convergenceLimit {
            let took = max(.zero, settled - sighted)
            return [Finding(.convergence, took: took, limit: Promise.convergenceLimit)]
        }
        let broken = "\(what): after \(took.short), not \(expectation.within.short)"
        return [Finding(expectation.promise, took: took, limit: expectation.within, broken: broken)]
    }

    private func blindness(of sight: Sight) -> [Range<Moment>] {
        sight.away + plan.blind.filter { $0.host == sight.host }.map(\.span)
    }

    private func misreadings(of expectation: Expectation, by end: Moment) -> [Finding] {
        guard case .status(let user, let expected) = expectation.thing else { return [] }
        return answers(about: user, from: expectation.deadline, to: end).filter { $0.status != expected }.prefix(3).map
        {
            let when = ($0.read.began - expectation.since).short
            let broken = "a read through host \($0.read.host) after \(when): \(user) is \($0.status), not \(expected)"
            return Finding(expectation.promise, broken: broken)
        }
    }

    // MARK: What should never be seen

    private func findings(of prohibition: Prohibition) -> [Finding] {
        let end = prohibition.until ?? self.end
        var broken: [String] = []
        broken += sights.filter { prohibition.who.observe(on: $0.host) }.compactMap {
            seen(prohibition, in: $0, to: end)
        }
        if prohibition.who.read { broken += read(prohibition, to: end) }
        guard broken.isEmpty else { return broken.prefix(4).map { Finding(prohibition.promise, broken: $0) } }
        return [Finding(prohibition.promise)]
    }

    private func seen(_ prohibition: Prohibition, in sight: Sight, to end: Moment) -> String? {
        let values = sight.statuses[prohibition.user]?.values(from: prohibition.from, to: end) ?? []
        guard let bad = values.first(where: { prohibition.statuses.contains($0.value) }) else { return nil }
        return "\(sight.name) saw \(prohibition.user) \(bad.value) after \((bad.at - prohibition.from).short)"
    }

    private func read(_ prohibition: Prohibition, to end: Moment) -> [String] {
        answers(about: prohibition.user, from: prohibition.from, to: end)
            .filter { prohibition.statuses.contains($0.status) }
            .map {
                let when = ($0.read.began - prohibition.from).short
                return "a read through host \($0.read.host) after \(when): \(prohibition.user) is \($0.status)"
            }
    }

    private func answers(
        about user: UserID, from start: Moment, to end: Moment
    ) -> [(read: Read, status: PresenceStatus)] {
        reads.compactMap { read in
            guard read.began >= start, read.ended <= end, let status = read.statuses?[user], isReadable(read) else {
                return nil
            }
            return (read, status)
        }
    }

    private func isReadable(_ read: Read) -> Bool {
        let span = read.began..<max(read.began, read.ended)
        let blind = plan.blind.filter { $0.host == read.host }.map(\.span) + plan.unreadable
        return !blind.contains { $0.overlaps(span) || $0.contains(read.began) }
    }

    // MARK: Order and connections

    private func setbacks() -> [Finding] {
        let setbacks = plan.dataIsLost ? [] : sights.flatMap { sight in sight.setbacks.map { "\(sight.name): \($0)" } }
        return setbacks.isEmpty ? [Finding(.order)] : setbacks.prefix(4).map { Finding(.order, broken: $0) }
    }

    private func lostConnections() -> [Finding] {
        let lost = notes.flatMap { user, notes in
            plan.mayLose.contains(user) ? [] : notes.compactMap { loss($0, of: user) }
        }
        return lost.isEmpty ? [Finding(.connections)] : lost.prefix(4).map { Finding(.connections, broken: $0) }
    }

    private func loss(_ note: Note, of user: UserID) -> String? {
        guard note.at <= end, case .ended(let host, let code) = note.event, code != .normal,
            !plan.gone.contains(where: { $0.host == host && $0.since <= note.at })
        else { return nil }
        return "\(user)'s connection to host \(host) ended with \(code.map { "\($0.rawValue)" } ?? "no word")"
    }
}

extension Sight {
    var name: String { "host \(host)'s observer" }

    func settled(_ thing: Expectation.Thing, by end: Moment) -> Moment? {
        switch thing {
        case .status(let user, let status): statuses[user]?.settled(to: status, by: end)
        case .types(let user, let conversation): typing(of: user, in: conversation).settled(to: true, by: end)
        case .typesNot(let user, let conversation): typing(of: user, in: conversation).settled(to: false, by: end)
        }
    }

    private func typing(of user: UserID, in conversation: ConversationID) -> Timeline<Bool> {
        (typists[conversation]?.changes ?? []).reduce(into: Timeline()) {
            $0.became($1.value.contains(user), at: $1.at)
        }
    }
}

extension Expectation.Thing: CustomStringConvertible {
    var description: String {
        switch self {
        case .status(let user, let status): "\(user) \(status)"
        case .types(let user, let conversation): "\(user) typing in \(conversation)"
        case .typesNot(let user, let conversation): "\(user) not typing in \(conversation)"
        }
    }
}

extension Duration {
    /// As a report has it: `2.34 s`.
    var short: String {
        if self < .zero { return "-" + (.zero - self).short }
        let hundredths = Int((inSeconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}
