// What users have decided that others see of them, as far as this event loop has to know it: of users who are watched here, and
// of users whose devices are here. A known revision never goes back, but by erasure.

internal import RollcallProtocol

/// Owns what is known of persons. Of users who have decided nothing, it keeps nothing.
final class Persons {
    private struct Entry {
        var person = Person()
        /// The revision that has to be known before anything new of the user is shown.
        var needed: Int64 = 0
        /// Whether Redis did not have it when it was last read.
        var isMissing = false

        var isKnown: Bool { person.revision >= needed }
    }

    private let loop: Loop
    private let outbound: Outbound
    private let table: SessionTable
    private var entries: [UserID: Entry] = [:]
    /// Users with devices here whose person is read at the end of the tick, or with the next heartbeat.
    private var due: Set<UserID> = []
    private var waiting: Set<UserID> = []
    /// When users may change their settings.
    private var paces: [UserID: ChangePace] = [:]
    /// The number of paces above which those that hold nobody back are dropped.
    private var crowded = 64
    /// Who follows changes: the way up.
    weak var fate: (any SessionFate)?
    /// Whether a user is watched here. The owner of the watches sets it.
    var isWatched: (UserID) -> Bool = { _ in false }

    init(_ loop: Loop, _ outbound: Outbound, _ table: SessionTable) {
        (self.loop, self.outbound, self.table) = (loop, outbound, table)
    }

    /// The number of users whose person Redis does not have.
    var missingCount: Int { entries.isEmpty ? 0 : entries.values.count { $0.isMissing && !$0.isKnown } }

    // MARK: Questions

    func decisions(of user: UserID) -> Decisions {
        guard !entries.isEmpty, let entry = entries[user] else { return .none }
        guard entry.isKnown else { return entry.isMissing ? .missing : .unknown }
        return entry.person.revision == 0 ? .none : .known(entry.person)
    }

    /// Whether nothing new of a user may be shown, since what they have decided is not read yet.
    func isUnknown(_ user: UserID) -> Bool {
        if case .unknown = decisions(of: user) { true } else { false }
    }

    /// Whether the user's typing and entries are held back; `nil` while that is not known.
    func isInvisible(_ user: UserID) -> Bool? {
        switch decisions(of: user) {
        // A session that came in an outage may have a user who decided something.
        case .none: table.of(user).contains { $0.knowsPerson } ? false : nil
        case .known(let person): person.current(at: time).availability == .invisible
        case .missing: true
        case .unknown: nil
        }
    }

    /// How much a session sees of a user.
    ///
    /// - Parameter shares: whether a conversation shares the user with it.
    func view(of user: UserID, for session: Session, shares: Bool, lastSeen: Timestamp?) -> View {
        Sight(
            of: user, for: viewer(session, of: user, shares: shares), by: decisions(of: user), lastSeen: lastSeen,
            at: time
        ).view
    }

    /// Whether a session sees nothing of a user by what was known last, while what they have decided since is not read yet.
    func hides(_ user: UserID, from session: Session, shares: Bool, lastSeen: Timestamp?) -> Bool {
        let known = entries[user].flatMap { $0.person.revision > 0 ? Decisions.known($0.person) : nil } ?? .none
        let viewer = viewer(session, of: user, shares: shares)
        return Sight(of: user, for: viewer, by: known, lastSeen: lastSeen, at: time).view == .hidden
    }

    /// How much a session sees of a user who is not watched here, by the person that was read with the record.
    func view(of record: PresenceRecord, _ found: Person??, lastSeen: Timestamp?, for session: Session) -> View {
        sight(of: record, found, lastSeen: lastSeen, for: viewer(session, of: record.user, shares: false)).view
    }

    /// The same for any viewer, with its reason.
    func sight(of record: PresenceRecord, _ found: Person??, lastSeen: Timestamp?, for viewer: Viewer) -> Sight {
        let decisions: Decisions =
            if let person = Self.person(of: record, found) {
                .known(person)
            } else {
                record.person > 0 ? .missing : .none
            }
        return Sight(of: record.user, for: viewer, by: decisions, lastSeen: lastSeen, at: time)
    }

    private static func person(of record: PresenceRecord, _ found: Person??) -> Person? {
        guard let person = found.flatMap(\.self), person.revision >= record.person else { return nil }
        return person
    }

    /// What a user says of themselves.
    func words(of user: UserID) -> PersonWords? {
        guard case .known(let person) = decisions(of: user) else { return nil }
        return PersonWords(of: person, at: time)
    }

    /// The same of one whose person was read with the record.
    func words(of record: PresenceRecord, _ found: Person??) -> PersonWords? {
        Self.person(of: record, found).flatMap { PersonWords(of: $0, at: time) }
    }

    private var time: Timestamp { loop.redis.time(at: loop.host.now) }

    private func viewer(_ session: Session, of user: UserID, shares: Bool) -> Viewer {
        var blocks = false
        // Nearly nobody has decided anything.
        if !entries.isEmpty, let own = session.user, case .known(let person) = decisions(of: own) {
            blocks = person.blocked[user] != nil
        }
        return Viewer(
            user: session.user, asksByName: session.watchRight.covers(user), shares: shares, blocks: blocks)
    }

    // MARK: What is read and published

    /// Handles that a record names a revision: in what was published, in a notice, or in the reply to a write.
    func named(_ revision: Int64, of user: UserID, at now: Instant) {
        guard revision > 0, revision > entries[user]?.needed ?? 0, keeps(user) else { return }
        change(user, at: now) { ($0.needed, $0.isMissing) = (revision, false) }
        readIfUnknown(user)
    }

    /// Handles what a read of a record, or of the person alone, found.
    ///
    /// - Parameters:
    ///   - found: the person; `nil` if it was not read.
    ///   - revision: the one that the record names; 0 for none.
    func read(_ found: Person??, named revision: Int64, of user: UserID, at now: Instant) {
        guard found.flatMap(\.self) != nil || revision > 0 || entries[user] != nil, keeps(user) else { return }
        change(user, at: now) { entry in
            if let person = found.flatMap(\.self), person.revision >= entry.person.revision { entry.person = person }
            entry.needed = max(entry.needed, revision, entry.person.revision)
            entry.isMissing = !entry.isKnown && found != nil
        }
        guard let entry = entries[user], let found, isOwn(user) else { return }
        if !entry.isKnown { waiting.insert(user) }
        if entry.isKnown, found?.revision ?? 0 < entry.person.revision { restore(entry.person, of: user) }
    }

    /// Handles a published change.
    func published(_ change: PersonChange, at now: Instant) {
        guard keeps(change.user), change.person.revision > entries[change.user]?.person.revision ?? 0 else { return }
        self.change(change.user, at: now) { entry in
            (entry.needed, entry.isMissing) = (max(entry.needed, change.person.revision), false)
            var person = change.person
            person.blocked = entry.person.blocked
            if let block = change.block, block.was == entry.person.blocksRevision {
                person.blocked[block.user] = block.isBlocked ? change.at : nil
            } else if person.blocksRevision != entry.person.blocksRevision {
                return
            }
            entry.person = person
        }
        readIfUnknown(change.user)
    }

    /// The user was erased: they have decided nothing, until they do so again.
    func erased(_ user: UserID, at now: Instant) {
        if entries[user] != nil { change(user, at: now) { $0 = Entry() } }
    }

    private func change(_ user: UserID, at now: Instant, _ body: (inout Entry) -> Void) {
        let before = decisions(of: user)
        var entry = entries[user] ?? Entry()
        body(&entry)
        entries[user] = entry.needed == 0 ? nil : entry
        let after = decisions(of: user)
        guard before != after else { return }
        if case .known(let person) = after, let until = person.until {
            loop.remind(.person(user), at: loop.redis.clock.instant(of: until))
        }
        fate?.personChanged(user, at: now)
    }

    /// Handles the moment at which what a user has decided may end.
    func due(_ user: UserID, at now: Instant) {
        guard case .known(let person) = decisions(of: user), let until = person.until else { return }
        let rest = until.since(loop.redis.time(at: now))
        guard rest <= .zero else { return loop.remind(.person(user), at: now + rest) }
        fate?.personChanged(user, at: now)
    }

    // MARK: Users whose devices are here

    /// Handles what a client sets of its own user.
    func set(_ patch: PersonPatch, id: MessageID?, on session: Session, at now: Instant) {
        guard let user = session.user else { return }
        let allowed = loop.settings.personSelf.settings
        guard patch.settings.keys.allSatisfy(allowed.contains), patch.lasts == nil || allowed.contains(.until) else {
            return outbound.answer(
                session, .badRequest, id: id,
                "person.self lets devices set \(allowed.isEmpty ? "nothing" : "no text and no emoji"): your server may")
        }
        let settings: [Person.Field: ByteString?]
        do throws(UnexpectedJSON) {
            settings = try patch.settings(at: loop.redis.time(at: now))
        } catch {
            return outbound.answer(session, .badRequest, id: id, error.description)
        }
        let every = ShardSettings.personPace
        if paces.count > crowded {
            paces = paces.filter { !$0.value.isRested(at: now) }
            crowded = max(64, paces.count * 2)
        }
        guard loop.redis.takesWrites, now >= paces[user, default: ChangePace()].next(every: every) else {
            return outbound.answerUnavailable(session, id: id)
        }
        paces[user, default: ChangePace()].passed(at: now, every: every)
        var known: Person?
        if case .known(let person) = decisions(of: user) { known = person }
        loop.store.write(PersonWrite(of: user, settings: settings, known: known)) { [self] reply in
            loop.after { now in
                guard let written = try? reply.get() else { return outbound.answerUnavailable(session, id: id) }
                read(.some(written.person), named: 0, of: user, at: now)
                if let revision = written.person?.revision {
                    for other in written.incarnations {
                        loop.store.announce(.person(user, revision: revision), to: other)
                    }
                }
                outbound.acknowledge(id, to: session)
            }
        }
    }

    /// Tells a session its own user's settings, unless it knows them.
    func tell(_ session: Session) {
        guard session.phase == .open, let user = session.user, case .known(let person) = decisions(of: user),
            session.personTold < person.revision
        else { return }
        session.personTold = person.revision
        outbound.deliver(.person(person), to: session)
    }

    private func isOwn(_ user: UserID) -> Bool { !table.of(user).isEmpty }

    /// Whether anybody here is interested in the user.
    private func keeps(_ user: UserID) -> Bool { isOwn(user) || isWatched(user) }

    /// Nobody may be interested in the user any longer.
    func forget(_ user: UserID) {
        guard !entries.isEmpty, entries[user] != nil, !keeps(user) else { return }
        entries[user] = nil
        loop.forget(.person(user))
        due.remove(user)
        waiting.remove(user)
    }

    /// The revision that writes of the user's devices bring; 0 for none.
    func revision(of user: UserID) -> Int64 { entries.isEmpty ? 0 : entries[user]?.person.revision ?? 0 }

    /// Whoever watches reads the person with the record.
    private func readIfUnknown(_ user: UserID) {
        if isUnknown(user), isOwn(user) { due.insert(user) }
    }

    /// Redis may have lost what it had: it gets back what is known of users whose devices are here.
    func incarnationBegan() {
        for (user, entry) in entries where isOwn(user) && entry.isKnown { restore(entry.person, of: user) }
        heartbeatCame()
    }

    func heartbeatCame() {
        due.formUnion(waiting)
        waiting = []
    }

    /// The worker's own channel may have missed that persons have changed.
    func noticesMissed() {
        let users = table.users
        for start in stride(from: 0, to: users.count, by: loop.settings.bounds.readBatch) {
            let batch = Array(users[start..<min(start + loop.settings.bounds.readBatch, users.count)])
            loop.store.personRevisions(of: batch) { [self] reply in
                loop.after { now in
                    guard let revisions = try? reply.get() else { return }
                    for (user, revision) in zip(batch, revisions) { named(revision, of: user, at: now) }
                }
            }
        }
    }

    /// Handles the revision that an audit read in the record, and in Redis of a person that is known here.
    func audited(_ found: DeviceStanding.PersonRevisions, of user: UserID, at now: Instant) {
        named(found.named, of: user, at: now)
        guard let entry = entries[user], entry.isKnown, found.stored < entry.person.revision else { return }
        restore(entry.person, of: user)
    }

    /// Requests the reads of users whose person is named and not known.
    func requestReads() {
        guard loop.redis.answersReads, !due.isEmpty else { return }
        let users = due.sorted()
        due = []
        for start in stride(from: 0, to: users.count, by: loop.settings.bounds.readBatch) {
            let batch = Array(users[start..<min(start + loop.settings.bounds.readBatch, users.count)])
            loop.store.persons(of: batch) { [self] reply in
                loop.after { now in
                    guard let found = try? reply.get() else { return waiting.formUnion(batch) }
                    for (user, person) in zip(batch, found) { read(.some(person), named: 0, of: user, at: now) }
                }
            }
        }
    }

    private func restore(_ person: Person, of user: UserID) {
        guard loop.redis.takesWrites else { return }
        loop.store.write(PersonWrite(of: user, known: person)) { [self] reply in
            loop.after { now in
                if let written = try? reply.get() { read(.some(written.person), named: 0, of: user, at: now) }
            }
        }
    }
}
