// What apps' servers say of who is here: agents and bridges, without a session. What was said is an entry of its own, with an
// end. Whichever worker was told last holds it: it ends it in time, writes it again after an outage, and if it dies, another one
// adopts it with the sweep.

internal import RollcallProtocol

/// Why a user is not here, or does not type, on behalf of an app's server.
package enum BackendRefusal: Error, Hashable, Sendable {
    /// The conversation has members, and the user is none.
    case notAMember
    /// This worker holds as many as it can.
    case tooMany
    /// Redis is away, or its answer was lost. What was said before stays.
    case unavailable
}

/// Takes what became of a request of an app's server, once.
package typealias BackendReply = (Result<Void, BackendRefusal>) -> Void

/// Owns the entries of apps' servers that this worker holds, until Redis holds nothing of them under it.
final class BackendEntries {
    private let loop: Loop
    private let entries = Directory<EntryName, BackendEntry>()
    /// Entries whose last step failed; the next heartbeat retries them.
    private var blocked: Set<BackendEntry> = []
    /// Whose leases the last heartbeat showed.
    private var known: Set<Incarnation> = []
    /// Those that may have been swept while this worker was away.
    private var leases: Set<Incarnation> = []
    private var isAllLost = false
    /// How far Redis's clock was ahead of this worker's, in milliseconds.
    private var ahead: Int64?

    init(_ loop: Loop) { self.loop = loop }

    var count: Int { entries.count }

    // MARK: What servers say

    /// Has a user be here for this long, in place of whatever servers have said before. If that fails, what was said before stays.
    func enter(
        _ name: EntryName, _ content: HereWrite.Content, for duration: Duration, at now: Instant,
        reply: @escaping BackendReply
    ) {
        guard let own = loop.redis.incarnation else { return reply(.failure(.unavailable)) }
        guard let entry = entry(name) else { return reply(.failure(.tooMany)) }
        let (until, ends) = (loop.redis.until, now + duration)
        entry.requests += 1
        entry.listedUnder = own
        loop.store.list(name, of: own, until: until) { [self] listed in
            loop.after { now in
                guard (try? listed.get()) == true else { return finish(entry, .failure(.unavailable), reply, at: now) }
                let write = HereWrite(
                    entry: name, content: content, incarnation: own, sequence: 0, until: until,
                    lasts: max(.zero, ends - now))
                loop.store.write(write) { [self] written in
                    loop.after { now in
                        let held = BackendEntry.Held(content: content, sequence: 0, ends: ends, incarnation: own)
                        finish(entry, result(of: written, as: held, in: entry, at: now), reply, at: now)
                    }
                }
            }
        }
    }

    private func result(
        of reply: Result<HereWritten, StoreFailure>, as held: BackendEntry.Held, in entry: BackendEntry, at now: Instant
    ) -> Result<Void, BackendRefusal> {
        switch reply {
        case .failure(let failure):
            if failure == .unknown {
                entry.isDoubtful = true
                rest(entry, at: now)
            }
            return .failure(.unavailable)
        case .success(let written) where written.outcome == .expired: return .failure(.unavailable)
        case .success(let written):
            tellFormer(of: written, entry.name)
            guard let sequence = written.sequence else {
                entry.held = nil
                return .failure(.notAMember)
            }
            var held = held
            (held.sequence, held.since) = (sequence, written.since)
            held.isStored = held.incarnation == loop.redis.incarnation
            entry.isListed = held.isStored
            if sequence > entry.held?.sequence ?? 0 { entry.held = held }
            return .success(())
        }
    }

    private func finish(
        _ entry: BackendEntry, _ result: Result<Void, BackendRefusal>, _ reply: BackendReply, at now: Instant
    ) {
        entry.requests -= 1
        if entry.held == nil { rest(entry, at: now) }
        advance(entry, at: now)
        reply(result)
    }

    /// Ends whatever servers have said, whichever worker was told. If that fails, it stays until its end.
    func exit(_ name: EntryName, at now: Instant, reply: @escaping BackendReply) {
        guard let own = loop.redis.incarnation else { return reply(.failure(.unavailable)) }
        let write = HereWrite(
            entry: name, content: nil, incarnation: own, sequence: 0, until: loop.redis.until, isOwnExit: true,
            lasts: .zero)
        loop.store.write(write) { [self] written in
            loop.after { now in
                guard let written = try? written.get(), written.outcome != .expired else {
                    return reply(.failure(.unavailable))
                }
                tellFormer(of: written, name)
                if let former = written.former { ended(name, upTo: former.sequence, at: now) }
                reply(.success(()))
            }
        }
    }

    /// Tells the worker that held what was ended or replaced.
    private func tellFormer(of written: HereWritten, _ name: EntryName) {
        guard let former = written.former, former.incarnation != loop.redis.incarnation else { return }
        loop.store.announce(.hereEnded(name, upTo: former.sequence), to: former.incarnation)
    }

    /// Another worker was told something else.
    func ended(_ name: EntryName, upTo sequence: Int64, at now: Instant) {
        guard let entry = entries[name], let held = entry.held, held.sequence <= sequence else { return }
        // It may be on its way to Redis again: nothing of it stays.
        entry.held?.ends = now
        advance(entry, at: now)
    }

    /// The user was erased.
    func erased(_ user: UserID, at now: Instant) {
        for entry in entries.all where entry.name.session.user == user {
            entry.held?.ends = now
            advance(entry, at: now)
        }
    }

    // MARK: What dead workers held

    /// Takes over what these items of a dead incarnation's list say of apps' servers, and what has ended and nobody has removed.
    ///
    /// - Parameters:
    ///   - dead: `nil` to take over only what has ended, whoever holds it.
    ///   - done: whether nothing of it is left under that incarnation.
    func adopt(_ names: [EntryName], of dead: Incarnation?, done: @escaping (Bool) -> Void = { _ in }) {
        guard !names.isEmpty else { return done(true) }
        loop.store.lines(of: names) { [self] reply in
            loop.after { now in
                guard let lines = try? reply.get(), loop.redis.takesWrites else { return done(false) }
                let adoption = BackendEntry.Adoption(done)
                for (name, line) in zip(names, lines) {
                    guard let line, let rest = line.rest(at: loop.redis.time(at: now)),
                        dead.map({ $0 == line.incarnation }) ?? (rest == .zero && entries[name]?.held == nil),
                        let entry = entry(name)
                    else { continue }
                    adoption.awaits(entry)
                    if entry.held?.sequence ?? 0 > line.sequence {
                        entry.held?.isStored = false
                    } else {
                        entry.held = BackendEntry.Held(line, ends: now + rest)
                    }
                    advance(entry, at: now)
                }
                adoption.ends()
            }
        }
    }

    // MARK: The lease

    /// Handles a new incarnation: what is stored is written again under it, and what Redis has lost.
    func incarnationBegan(_ snapshot: LeaseSnapshot, at now: Instant) {
        leases = Set(snapshot.leases.keys)
        isAllLost = known.isDisjoint(with: leases)
        known = leases
        blocked = []
        for entry in entries.all {
            entry.incarnationBegan()
            advance(entry, at: now)
        }
    }

    /// Handles a heartbeat that renewed the lease. If Redis's clock was set, all ends are written again.
    func heartbeatCame(_ snapshot: LeaseSnapshot, resumesWrites: Bool, at now: Instant) {
        let present = loop.redis.time(at: now).milliseconds.saturatingDifference(now.nanoseconds / 1_000_000)
        defer { ahead = present }
        guard entries.count > 0 else { return }
        known = Set(snapshot.leases.keys)
        let isClockSet = ahead.map { abs(present.saturatingDifference($0)) > 1000 } ?? false
        if isClockSet { for entry in entries.all { entry.held?.isStored = false } }
        let all = isClockSet || resumesWrites ? entries.all : blocked.sorted { $0.number < $1.number }
        blocked = []
        for entry in all {
            entry.isBlocked = false
            advance(entry, at: now)
        }
    }

    // MARK: Steps

    private func entry(_ name: EntryName) -> BackendEntry? {
        if let entry = entries[name] { return entry }
        guard entries.count < loop.settings.bounds.backendEntries else { return nil }
        return entries.insert(name) { BackendEntry(name, $0) }
    }

    /// Begins the next step of an entry, or waits for its moment.
    func advance(_ entry: BackendEntry, at now: Instant) {
        guard !entry.isOver, entry.requests == 0, !entry.isUnderWay, !entry.isBlocked,
            let own = loop.redis.incarnation
        else { return }
        if entry.held?.isStored ?? true { entry.adoption?.ended(entry, true) }
        if let rests = entry.rests, now < rests, entry.held == nil || entry.isDoubtful {
            return loop.remind(.backendEntry(entry), at: rests)
        }
        guard !entry.isDoubtful else { return lookUp(entry, as: own) }
        guard let held = entry.held else { return unlist(entry, of: own) }
        guard now < held.ends else { return end(held, in: entry, as: own) }
        if held.isStored {
            loop.remind(.backendEntry(entry), at: held.ends)
        } else if entry.isListed {
            renew(held, in: entry, as: own, at: now)
        } else {
            list(entry, as: own)
        }
    }

    /// One step at a time; what fails is tried again with a heartbeat.
    private func step<Answer>(
        _ entry: BackendEntry, _ ask: (@escaping StoreReply<Answer>) -> Void,
        _ succeeded: @escaping (Answer, Instant) -> Bool
    ) {
        entry.isUnderWay = true
        let life = entry.life
        ask { [self] reply in
            loop.after { now in
                guard !entry.isOver, entry.life == life else { return }
                entry.isUnderWay = false
                entry.isBlocked = (try? reply.get()).map { !succeeded($0, now) } ?? true
                if entry.isBlocked {
                    entry.adoption?.ended(entry, false)
                    blocked.insert(entry)
                }
                advance(entry, at: now)
            }
        }
    }

    private func list(_ entry: BackendEntry, as own: Incarnation) {
        entry.listedUnder = own
        step(entry, { loop.store.list(entry.name, of: own, until: loop.redis.until, reply: $0) }) { isListed, _ in
            entry.isListed = isListed
            return isListed
        }
    }

    /// Writes it under this incarnation. After an ordinary outage only what is still stored under the former one: another worker may
    /// have been told something else meanwhile, or have adopted it.
    private func renew(_ held: BackendEntry.Held, in entry: BackendEntry, as own: Incarnation, at now: Instant) {
        let write = HereWrite(
            entry: entry.name, content: held.content, incarnation: own, sequence: held.sequence,
            until: loop.redis.until, since: held.since, lasts: held.ends - now,
            renews: held.isLost ? nil : held.incarnation)
        step(entry, { loop.store.write(write, reply: $0) }) { [self] written, now in
            switch written.outcome {
            case .expired: return false
            case .here:
                entry.held?.isStored = true
                entry.held?.incarnation = own
                entry.held?.since = written.since
            case .late where written.sequence == nil && !held.isLost: lookUpList(held, of: entry)
            case .late, .gone, .notAMember: forget(held, in: entry, at: now)
            }
            return true
        }
    }

    /// Nothing is stored. Either another worker was told its end, or Redis has lost it: then also from the list on which it was,
    /// unless that was swept meanwhile.
    private func lookUpList(_ held: BackendEntry.Held, of entry: BackendEntry) {
        step(entry, { loop.store.isListed(entry.name, of: held.incarnation, reply: $0) }) { [self] isListed, now in
            let mayBeSwept = !isAllLost && !leases.contains(held.incarnation)
            if isListed || mayBeSwept { forget(held, in: entry, at: now) } else { entry.held?.isLost = true }
            return true
        }
    }

    /// The reply to a request was lost: what is stored now is what counts.
    private func lookUp(_ entry: BackendEntry, as own: Incarnation) {
        step(entry, { loop.store.lines(of: [entry.name], reply: $0) }) { [self] lines, now in
            entry.isDoubtful = false
            guard let line = lines.first ?? nil, let rest = line.rest(at: loop.redis.time(at: now)),
                line.sequence > entry.held?.sequence ?? 0
            else { return true }
            // What is under another incarnation stays with whoever holds that.
            entry.held = line.incarnation == own ? BackendEntry.Held(line, ends: now + rest) : nil
            return true
        }
    }

    private func end(_ held: BackendEntry.Held, in entry: BackendEntry, as own: Incarnation) {
        let write = HereWrite(
            entry: entry.name, content: nil, incarnation: own, sequence: held.sequence, until: loop.redis.until,
            isOwnExit: true, lasts: .zero)
        step(entry, { loop.store.write(write, reply: $0) }) { [self] written, now in
            guard written.outcome != .expired else { return false }
            forget(held, in: entry, at: now)
            return true
        }
    }

    private func forget(_ held: BackendEntry.Held, in entry: BackendEntry, at now: Instant) {
        guard entry.held?.sequence == held.sequence else { return }
        entry.held = nil
        rest(entry, at: now)
    }

    /// Until then something that was sent may come to Redis.
    private func rest(_ entry: BackendEntry, at now: Instant) {
        entry.rests = now + max(.zero, loop.redis.until.since(loop.redis.time(at: now)))
    }

    private func unlist(_ entry: BackendEntry, of own: Incarnation) {
        guard entry.listedUnder == own else { return remove(entry) }
        step(entry, { loop.store.unlist(.entry(entry.name), of: own, reply: $0) }) { [self] _, _ in
            if entry.requests == 0, entry.held == nil { remove(entry) } else { entry.isListed = false }
            return true
        }
    }

    private func remove(_ entry: BackendEntry) {
        entry.isOver = true
        entries.remove(entry.name)
        blocked.remove(entry)
        loop.forget(.backendEntry(entry))
    }
}

// MARK: One entry

/// What apps' servers say of a user in a conversation, as long as this worker may have something of it in Redis.
final class BackendEntry: Numbered {
    /// What Redis holds.
    struct Held {
        let content: HereWrite.Content
        var sequence: Int64
        /// By this worker's clock.
        var ends: Instant
        /// Under which it was written last.
        var incarnation: Incarnation
        /// Whether it is written under the present incarnation, with this end.
        var isStored = true
        /// Whether Redis has lost it, and it is to be written again.
        var isLost = false
        var since: Timestamp?

        init(content: HereWrite.Content, sequence: Int64, ends: Instant, incarnation: Incarnation) {
            (self.content, self.sequence, self.ends, self.incarnation) = (content, sequence, ends, incarnation)
        }

        /// What another worker has written.
        init(_ line: HereLine, ends: Instant) {
            self.init(content: line.content, sequence: line.sequence, ends: ends, incarnation: line.incarnation)
            isStored = false
        }
    }

    /// Entries of a dead incarnation, until all of them are another's.
    final class Adoption {
        private var left: Set<BackendEntry> = []
        private var isDone = true
        private var isComplete = false
        private let done: (Bool) -> Void

        init(_ done: @escaping (Bool) -> Void) { self.done = done }

        func awaits(_ entry: BackendEntry) {
            entry.adoption?.ended(entry, false)
            entry.adoption = self
            left.insert(entry)
        }

        func ended(_ entry: BackendEntry, _ isDone: Bool) {
            entry.adoption = nil
            left.remove(entry)
            self.isDone = self.isDone && isDone
            if isComplete, left.isEmpty { done(self.isDone) }
        }

        /// No further entry follows.
        func ends() {
            isComplete = true
            if left.isEmpty { done(isDone) }
        }
    }

    let name: EntryName
    let number: Int32
    var held: Held?
    /// Whether the reply to a request was lost, which may have changed what is stored.
    var isDoubtful = false
    /// Requests of servers under way.
    var requests = 0
    var adoption: Adoption?
    /// The incarnation on whose list the entry may be, and whether it is.
    var listedUnder: Incarnation?
    var isListed = false
    var rests: Instant?
    var isUnderWay = false
    var isBlocked = false
    var isOver = false
    /// The number of incarnations: replies to an earlier one's steps say nothing.
    private(set) var life = 0

    init(_ name: EntryName, _ number: Int32) { (self.name, self.number) = (name, number) }

    func incarnationBegan() {
        life += 1
        (isUnderWay, isBlocked, isListed, listedUnder) = (false, false, false, nil)
        held?.isStored = false
        held?.isLost = false
        adoption?.ended(self, false)
    }
}
