// Compares what was observed in a round with what should have been.

internal import Harness
internal import RollcallClient

/// Everything that a round is judged by.
struct Judge {
    let plan: Plan
    let sights: [Sight]
    let reads: [Read]
    let notes: [(user: UserID, notes: [Note])]
    let end: Moment

    func findings() -> [Finding] {
        plan.findings + plan.expectations.flatMap(findings(of:)) + plan.prohibitions.flatMap(findings(of:))
            + setbacks() + audience() + lostConnections()
    }

    // MARK: Expectations

    private func findings(of expectation: Expectation) -> [Finding] {
        let end = expectation.until ?? self.end
        return sights.flatMap { findings(of: expectation, in: $0, by: end) } + misreadings(of: expectation, by: end)
    }

    private func findings(of expectation: Expectation, in sight: Sight, by end: Moment) -> [Finding] {
        let blindness = (blindness(of: sight) + deafness(to: expectation.thing, in: sight)).filter {
            $0.upperBound > expectation.since && $0.lowerBound < end
        }
        guard !blindness.contains(where: { $0.upperBound >= end }) else { return [] }
        let what = "\(sight.name) \(expectation.thing)"
        guard let settled = sight.settled(expectation.thing, by: end) else {
            return [Finding(expectation.promise, limit: expectation.within, broken: "\(what): not seen at the end")]
        }
        let took = max(.zero, settled - expectation.since)
        if took <= expectation.within { return [Finding(expectation.promise, took: took, limit: expectation.within)] }
        let limit = Promise.convergenceLimit + expectation.lateness
        if let sighted = blindness.map(\.upperBound).max(), settled <= sighted + limit {
            return [Finding(.convergence, took: max(.zero, settled - sighted), limit: limit)]
        }
        let broken = "\(what): after \(took.short), not \(expectation.within.short)"
        return [Finding(expectation.promise, took: took, limit: expectation.within, broken: broken)]
    }

    private func blindness(of sight: Sight) -> [Range<Moment>] {
        sight.away + plan.blind.filter { $0.host == sight.host }.map(\.span)
    }

    /// When it could not be seen who is in the room, although everything else could: nobody goes while a worker takes Redis to
    /// be away, and nobody comes while Redis is full, or before the worker of their device follows the room.
    private func deafness(to thing: Expectation.Thing, in sight: Sight) -> [Range<Moment>] {
        guard case .here(let visitor, let isHere) = thing else { return [] }
        guard isHere else { return plan.unsettled.filter { $0.host == sight.host }.map(\.span) }
        let hosts = Set(
            notes.filter { $0.user == visitor }.flatMap(\.notes).compactMap { note in
                if case .welcomed(let host) = note.event { host } else { nil }
            })
        return plan.full + plan.blind.filter { hosts.contains($0.host) }.map(\.span)
    }

    private func misreadings(of expectation: Expectation, by end: Moment) -> [Finding] {
        guard case .status(let user, let expected) = expectation.thing else { return [] }
        return answers(about: user, from: expectation.deadline, to: end).filter { $0.status != expected }.prefix(3).map
        {
            let when = ($0.read.began - expectation.since).short
            let broken =
                "a read through host \($0.read.host) after \(when): \(user.escaped) is \($0.status), not \(expected)"
            return Finding(expectation.promise, broken: broken)
        }
    }

    // MARK: Prohibitions

    /// Some read must be answered within this time; otherwise, prohibitions about reads were not tested.
    private static let readable = Duration.seconds(1)

    private func findings(of prohibition: Prohibition) -> [Finding] {
        let end = prohibition.until ?? self.end
        var broken: [String] = []
        broken += sights.filter { prohibition.who.observe(on: $0.host) }.compactMap {
            seen(prohibition, in: $0, to: end)
        }
        if prohibition.who.read { broken += read(prohibition, to: end) }
        if case .reads = prohibition.who, end - prohibition.from > Self.readable,
            answers(about: prohibition.user, from: prohibition.from, to: end).isEmpty
        {
            broken.append("nobody could read about \(prohibition.user.escaped)")
        }
        guard broken.isEmpty else { return broken.prefix(4).map { Finding(prohibition.promise, broken: $0) } }
        return [Finding(prohibition.promise)]
    }

    private func seen(_ prohibition: Prohibition, in sight: Sight, to end: Moment) -> String? {
        let values = sight.statuses[prohibition.user]?.values(from: prohibition.from, to: end) ?? []
        if let bad = values.first(where: { prohibition.statuses.contains($0.value) }) {
            return
                "\(sight.name) saw \(prohibition.user.escaped) \(bad.value) after \((bad.at - prohibition.from).short)"
        }
        guard plan.visitors.contains(prohibition.user),
            let bad = sight.here[prohibition.user]?.values(from: prohibition.from, to: end)
                .first(where: { prohibition.forbids(here: $0.value) })
        else { return nil }
        let what = Expectation.Thing.here(prohibition.user, bad.value)
        return "\(sight.name) saw \(what) after \((bad.at - prohibition.from).short)"
    }

    private func read(_ prohibition: Prohibition, to end: Moment) -> [String] {
        answers(about: prohibition.user, from: prohibition.from, to: end)
            .filter { prohibition.statuses.contains($0.status) }
            .map {
                let when = ($0.read.began - prohibition.from).short
                return "a read through host \($0.read.host) after \(when): \(prohibition.user.escaped) is \($0.status)"
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
        let setbacks = sights.flatMap { sight in
            sight.setbacks.filter { !isExcused($0) }.map { "\(sight.name): \($0.what)" }
        }
        return setbacks.isEmpty ? [Finding(.order)] : setbacks.prefix(4).map { Finding(.order, broken: $0) }
    }

    /// Returns whether something may go back: anything after Redis lost data, until the fault is over; and times by
    /// Redis's clock after it was set back, by at most the step minus the elapsed time. Such a time may be shown long
    /// after the step.
    private func isExcused(_ setback: Sight.Setback) -> Bool {
        if let lost = plan.dataLost, setback.at >= lost, setback.at < plan.over ?? end { return true }
        guard let (moment, step) = plan.clockSetBack, let back = setback.clockTime else { return false }
        let began = notes.compactMap(\.notes.first?.at).min() ?? moment
        return setback.at >= moment && back <= step && back >= step - (setback.at - began)
    }

    private func lostConnections() -> [Finding] {
        let lost = notes.flatMap { user, notes in
            plan.mayLose.contains(user) ? [] : losses(in: notes, of: user)
        }
        return lost.isEmpty ? [Finding(.connections)] : lost.prefix(4).map { Finding(.connections, broken: $0) }
    }

    private func losses(in notes: [Note], of user: UserID) -> [String] {
        var welcomed = notes.first?.at ?? end
        return notes.compactMap { note in
            if case .welcomed = note.event { welcomed = note.at }
            guard note.at <= end, case .ended(let host, let code) = note.event, code != .normal,
                !mayEnd(host, welcomed: welcomed, ended: note.at)
            else { return nil }
            let word = code.map { "\($0.rawValue)" } ?? "no word"
            return "\(user.escaped)'s connection to host \(host) ended with \(word)"
        }
    }

    /// Returns whether a connection may end because its worker stopped after the device had connected to it.
    private func mayEnd(_ host: Int, welcomed: Moment, ended: Moment) -> Bool {
        plan.gone.contains { gone in
            gone.host == host && gone.since <= ended
                && !plan.restarted.contains { $0.host == host && gone.since < $0.at && $0.at <= welcomed }
        }
    }
}

extension Sight {
    var name: String { "host \(host)'s observer" }

    func settled(_ thing: Expectation.Thing, by end: Moment) -> Moment? {
        switch thing {
        case .status(let user, let status): statuses[user]?.settled(to: status, by: end)
        case .types(let user, let conversation): typing(of: user, in: conversation).settled(to: true, by: end)
        case .typesNot(let user, let conversation): typing(of: user, in: conversation).settled(to: false, by: end)
        case .here(let user, let isHere): here[user]?.settled(to: isHere, by: end)
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
        case .status(let user, let status): "\(user.escaped) \(status)"
        case .types(let user, let conversation): "\(user.escaped) typing in \(conversation.escaped)"
        case .typesNot(let user, let conversation): "\(user.escaped) not typing in \(conversation.escaped)"
        case .here(let user, let isHere): "\(user.escaped) \(isHere ? "" : "not ")in the room"
        }
    }
}

extension Duration {
    /// The duration as shown in reports: `2.34 s`.
    var short: String {
        if self < .zero { return "-" + (.zero - self).short }
        let hundredths = Int((inSeconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}
