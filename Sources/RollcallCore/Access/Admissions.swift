// How long users may be in the conversations of a shard because an app's server admitted them. What counts is in Redis, for
// all workers: a session that comes back asks nothing. Where Redis has lost it, what is known here stands until its end.

internal import RollcallProtocol

/// A user's admission to a room, or what is left of it.
struct Admission {
    /// Its end in Redis; `nil` if it is not, or no longer, there.
    var until: Timestamp?
    /// Who is in the room by it leaves then; `nil` for a user who only waits.
    var ends: Instant?
    /// When Redis is read again, and then the server asked, unless another worker has.
    var looks: Instant
    var isDropped = false
}

/// Judges who is in a room by an admission, and asks for what is missing.
final class Admissions {
    enum Standing {
        case admitted
        /// The server is asked, or will be: who waits goes on waiting, and who is in the room stays for now.
        case asked
    }

    private let loop: Loop
    private let table: SessionTable
    private let budgets: UserBudgets

    /// How long those stay in a room whose admission was dropped, if the server does not answer.
    private static let patience = Duration.seconds(30)
    /// Who comes with an admission that ends within this time waits for a new one: it could end before the server answers.
    private static let shortest = Duration.seconds(5)
    /// What a question costs its user in messages, unless it is allowed.
    private static let cost = 5

    init(_ loop: Loop, _ table: SessionTable, _ budgets: UserBudgets) {
        (self.loop, self.table, self.budgets) = (loop, table, budgets)
    }

    /// Judges a user without another right, by a read of a conversation without members.
    ///
    /// - Parameter dropped: whether it was heard during the read that admissions were dropped: what it says of one may be older.
    func judge(
        _ user: UserID, in room: Room, _ snapshot: RoomSnapshot, dropped: Bool, at now: Instant
    ) -> Standing {
        let record = snapshot.access[user] ?? AccessRecord()
        let known = room.admissions[user]
        let isDue = known.map { $0.looks <= now } ?? false
        if let until = record.until, known != nil || until.since(snapshot.time) >= Self.shortest {
            if dropped {
                look(user, in: room, at: now)
                return .asked
            }
            if until != known?.until { admit(user, to: room, until: until, left: until.since(snapshot.time), at: now) }
            if until == known?.until, isDue {
                let ends = known?.ends ?? now
                ask(user, .renewal(within: (ends - now) / 4), in: room, at: now)
                room.admissions[user]?.looks = ends
            }
            return .admitted
        }
        if !room.pendingJoins.of(user).isEmpty { ask(user, isDue ? .dropped : .joining, in: room, at: now) }
        guard isIn(user, room) else {
            room.admissions[user] = nil
            return .asked
        }
        var admission = known ?? Admission(looks: now, isDropped: true)
        let ends = admission.ends ?? now + Self.patience
        if let dropped = record.dropped, !admission.isDropped {
            let since = now + dropped.since(snapshot.time)
            (admission.isDropped, admission.looks) = (true, max(now, since + AccessRecord.margin))
            admission.ends = max(now, since + Self.patience)
        } else {
            admission.ends = ends
            // Redis has lost it: the server is asked soon, and not by all at once.
            if admission.until != nil, !admission.isDropped {
                admission.looks = now + (ends - now) / 4 * table.chance()
            }
        }
        admission.until = nil
        if admission.looks <= now {
            ask(user, admission.isDropped ? .dropped : .renewal(within: (ends - now) / 4), in: room, at: now)
            admission.looks = admission.ends ?? now
        }
        room.admissions[user] = admission
        remind(room, of: admission)
        return .asked
    }

    /// Handles that a user's admission was dropped, or all: the server is asked a second later. However soon it would have ended, there
    /// is time for that.
    func dropped(_ user: UserID?, in room: Room, at now: Instant) {
        room.lastDrop = now
        for (each, admission) in room.admissions.sorted(by: { $0.key < $1.key })
        where (user ?? each) == each && !admission.isDropped {
            guard admission.ends != nil else { continue }
            let dropped = Admission(ends: now + Self.patience, looks: now + AccessRecord.margin, isDropped: true)
            room.admissions[each] = dropped
            remind(room, of: dropped)
        }
    }

    /// An answer that admits is being noted. Whoever is there does not leave meanwhile because their last one ends; after a drop it may
    /// count for nothing, and puts off nothing.
    func isBeingNoted(_ user: UserID, in room: Room, at now: Instant) {
        guard let admission = room.admissions[user], let ends = admission.ends, !admission.isDropped else { return }
        room.admissions[user]?.ends = max(ends, now + Self.patience)
    }

    /// Handles an answer that Redis has noted, or has not.
    ///
    /// - Returns: whether the user may be in the room; `nil` if that is still open.
    func written(
        _ reply: Result<AccessWritten, StoreFailure>, _ answer: AccessAnswer, of user: UserID, in room: Room,
        sent: Instant, at now: Instant
    ) -> Bool? {
        let wasCharged = room.asked.removeValue(forKey: user) ?? false
        guard case .success(let written) = reply, written.dropped == nil else {
            let dropped = (try? reply.get().dropped) ?? nil
            let again = dropped.map { loop.redis.clock.instant(of: $0) + AccessRecord.margin }
            look(user, in: room, at: again ?? now + .seconds(1))
            return nil
        }
        guard case .allow(let time, _) = answer else {
            room.admissions[user] = nil
            return false
        }
        if wasCharged { budgets.refund(Self.cost, to: user, at: now) }
        // What is heard may overtake the reply: Redis is read again.
        guard room.lastDrop.map({ $0 < sent }) ?? true else {
            look(user, in: room, at: now)
            return nil
        }
        admit(user, to: room, until: written.time.advanced(by: time), left: time, at: now)
        return true
    }

    private func look(_ user: UserID, in room: Room, at instant: Instant) {
        var admission = room.admissions[user] ?? Admission(looks: instant)
        admission.looks = instant
        room.admissions[user] = admission
        remind(room, of: admission)
    }

    private func admit(_ user: UserID, to room: Room, until: Timestamp, left: Duration, at now: Instant) {
        let admission = Admission(until: until, ends: now + left, looks: now + left * (0.5 + table.chance() / 4))
        room.admissions[user] = admission
        remind(room, of: admission)
    }

    private func remind(_ room: Room, of admission: Admission) {
        loop.remind(.access(room), at: min(admission.looks, admission.ends ?? admission.looks))
    }

    private func ask(_ user: UserID, _ need: AccessQueue.Need, in room: Room, at now: Instant) {
        if room.asked[user] == nil {
            room.asked[user] = need == .joining
            if need == .joining { budgets.owe(Self.cost, by: user, at: now) }
        }
        for waiting in room.pendingJoins.of(user) where waiting.session.awaitsShares {
            loop.remind(.gets(waiting.session), at: now + ShardSettings.longestWaitForJoins)
        }
        loop.host.ask(AccessQuestion(user: user, conversation: room.conversation), need)
    }

    private func isIn(_ user: UserID, _ room: Room) -> Bool {
        table.of(user).contains { room.sessions.contains($0) && !$0.right.covers(room.conversation) }
    }

    /// Takes those of a room out whose admissions have ended.
    ///
    /// - Returns: them, and those of whom Redis is to be read again.
    func due(_ room: Room, at now: Instant) -> (over: [UserID], unclear: [UserID]) {
        var (over, unclear): ([UserID], [UserID]) = ([], [])
        for (user, admission) in room.admissions {
            if let ends = admission.ends, ends <= now {
                over.append(user)
                room.admissions[user] = nil
            } else if admission.looks <= now {
                unclear.append(user)
                loop.remind(.access(room), at: now + .seconds(1))
            } else {
                remind(room, of: admission)
            }
        }
        return (over.sorted(), unclear.sorted())
    }

    /// A session has left: nobody needs the answer if none of the user's is left.
    func left(_ user: UserID, _ room: Room) {
        guard !room.admissions.isEmpty || !room.asked.isEmpty, room.pendingJoins.of(user).isEmpty, !isIn(user, room)
        else { return }
        forget(user, room)
    }

    /// The conversation has members, who decide.
    func forgetAll(_ room: Room) {
        for user in room.asked.keys.sorted() { forget(user, room) }
        room.admissions = [:]
    }

    private func forget(_ user: UserID, _ room: Room) {
        room.admissions[user] = nil
        guard room.asked.removeValue(forKey: user) != nil else { return }
        loop.host.withdraw(AccessQuestion(user: user, conversation: room.conversation))
    }
}
