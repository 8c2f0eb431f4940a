// The script here_write, and who is here.

public import RollcallProtocol

/// A user's field of `here:{CONVERSATION}`, with the score in `here:{CONVERSATION}:since`.
package struct TwinHere: Hashable, Sendable {
    package var lines: [HereLine]
    package var since: Timestamp
}

extension TwinRedis {
    /// Writes that a session is in a conversation, or not.
    public mutating func write(_ write: HereWrite) -> HereWritten {
        let (session, conversation) = (write.entry.session, write.entry.conversation)
        guard !isTooLate(write.until) else { return HereWritten(outcome: .expired, time: time, since: nil) }
        var lines = here[conversation]?[session.user]?.lines ?? []
        if let replaced = write.replaced { lines.removeAll { $0.session == replaced && replaced != session.session } }
        let place = lines.firstIndex { $0.session == session.session }
        let own = place.map { lines[$0] }
        let isNew = write.lasts != nil && write.sequence == 0
        let sequence = isNew ? max(own.map { $0.sequence + 1 } ?? 0, time.milliseconds) : write.sequence
        func written(_ outcome: HereWritten.Outcome) -> HereWritten {
            let is_ = here[conversation]?[session.user]
            var written = HereWritten(outcome: outcome, time: time, since: is_?.since)
            guard write.lasts != nil else { return written }
            written.sequence = is_?.lines.first { $0.session == session.session }?.sequence
            written.former = own.map { .init(incarnation: $0.incarnation, sequence: $0.sequence) }
            return written
        }
        let isAnothers = own.map { $0.sequence == sequence && $0.incarnation != write.renews }
        let isRenewed = isAnothers.map { !$0 } ?? planted.contains(.renewsWhatEnded)
        if let own, own.sequence > sequence { return written(.late) }
        if write.renews != nil, !isRenewed { return written(.late) }
        if let place { lines.remove(at: place) }
        if planted.contains(.exitsOthers), write.content == nil { lines.removeAll { $0.device == session.device } }
        let isMember = isMember(session.user, of: conversation) ?? write.isOpen
        if let content = write.content, isMember {
            let line = HereLine(
                device: session.device, incarnation: write.incarnation, session: session.session,
                sequence: sequence, content: content, ends: write.lasts.map { time.advanced(by: $0) })
            let isNews = content.data.map { $0 != own?.content.data } ?? false
            lines.insert(line, at: isNews ? lines.count : place ?? lines.count)
        }
        change(lines, of: session.user, in: conversation, since: write.since, isOwnExit: write.isOwnExit)
        return written(write.content == nil ? .gone : isMember ? .here : .notAMember)
    }

    /// Reads the lines of these entries.
    public func lines(of entries: [EntryName]) -> [HereLine?] {
        entries.map { entry in
            here[entry.conversation]?[entry.session.user]?.lines.first { $0.session == entry.session.session }
        }
    }

    /// Who is here, the longest first.
    func hereSnapshot(_ conversation: ConversationID, most: Int) -> HereSnapshot {
        let all = here[conversation] ?? [:]
        let users = inOrder(all).prefix(most).map { (user: $0, since: notAhead($1.since), lines: $1.lines) }
        return HereSnapshot(users, count: all.count, in: conversation)
    }

    func inOrder(_ users: [UserID: TwinHere]) -> [(UserID, TwinHere)] {
        users.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }.map { ($0.key, $0.value) }
    }

    /// Stores a user's lines, and publishes what that changes of what is shown.
    mutating func change(
        _ lines: [HereLine], of user: UserID, in conversation: ConversationID, since: Timestamp? = nil,
        isOwnExit: Bool = false
    ) {
        let was = here[conversation]?[user]
        if lines.isEmpty {
            here[conversation]?[user] = nil
            if here[conversation]?.isEmpty == true { here[conversation] = nil }
        } else {
            let since = min(was?.since ?? time, since ?? time, time)
            here[conversation, default: [:]][user] = TwinHere(lines: lines, since: since)
        }
        let shown = { (here: TwinHere?) in here.flatMap { HereUser(user, $0.lines, since: $0.since) } }
        let (before, after) = (shown(was), shown(here[conversation]?[user]))
        let (ended, ends) = (HereLine.lastEnd(was?.lines ?? []), HereLine.lastEnd(lines))
        let isMoved = ends.map { end in ended.map { abs(end.since($0).milliseconds) > 1000 } ?? true } ?? false
        guard before != after || was?.lines.count ?? 0 != lines.count || isMoved else { return }
        let change = HereChange(
            user: user, here: after, count: here[conversation]?.count ?? 0, at: time, sessions: lines.count,
            isOwnExit: isOwnExit, expiresIn: ends.map { max(.zero, $0.since(time)) })
        published.append(.here(change, in: conversation))
    }
}
