// What is around a shard: events go in one at a time, actions are carried out in order, ticks end, time passes. Workers, the
// simulation and the tests of the core all drive their shards with it.

public import RollcallModel

/// Something that happens to a shard, at a moment.
public typealias ShardEvent = (Shard, Instant) -> [ShardAction]

/// Where a shard runs: an event loop of a worker, a simulated process, or a test.
public protocol ShardHost: AnyObject {
    /// The host's monotonic clock.
    var now: Instant { get }
    /// Called after each event with what it wants done, before any of that is carried out.
    func happened(_ actions: [ShardAction])
    /// Does one thing. A request to Redis may be answered before this returns.
    func carryOut(_ action: ShardAction)
    /// Calls ``ShardShell/endTick()`` soon, after what has come by then.
    func endTickSoon()
    /// Calls ``ShardShell/timePassed()`` then. Only the newest call counts.
    func wake(at instant: Instant)
    /// A message to this worker came. ``ShardShell/noticed(_:)`` is to be called on each of its shards.
    func received(_ notice: WorkerNotice)
    /// A published change could not be parsed as this type: it is another version's, or not Rollcall's.
    func couldNotRead(_ change: Any.Type)
}

extension ShardHost {
    public func happened(_: [ShardAction]) {}
    public func couldNotRead(_: Any.Type) {}
}

/// A shard with what drives it. Used on one thread only, its host's.
public final class ShardShell {
    public let shard: Shard
    /// Set before the first event.
    public unowned var host: (any ShardHost)?
    /// What later events want done, while the actions of an earlier one are carried out.
    private var waiting: [ShardAction] = []
    private var isCarryingOut = false
    private var endsTickSoon = false
    private var wakesAt: Instant?

    /// How many sessions one request lists.
    private static let listBatch = 1000

    public init(_ shard: Shard) {
        self.shard = shard
    }

    /// Lets an event happen, and carries out what follows from it. An event that happens while actions are carried out
    /// has its own carried out after all of those.
    public func after(_ event: ShardEvent) {
        guard let host else { return }
        carryOut(event(shard, host.now), on: host)
        endTickSoon(host)
        wakeInTime()
    }

    /// Redis has answered a request, or will not.
    public func answered<Question: StoreQuestion>(
        _ question: Question, _ reply: Result<Question.Answer, StoreFailure>
    ) {
        after { question.answered(reply, by: $0, at: $1) }
    }

    /// The tick is over: what changed in it is sent.
    public func endTick() {
        guard let host else { return }
        endsTickSoon = false
        carryOut(shard.tickEnded(at: host.now), on: host)
        if shard.hasMoreToTell { endTickSoon(host) }
        wakeInTime()
    }

    private func endTickSoon(_ host: any ShardHost) {
        guard !endsTickSoon else { return }
        endsTickSoon = true
        host.endTickSoon()
    }

    /// The moment has come that ``ShardHost/wake(at:)`` told.
    public func timePassed() {
        wakesAt = nil
        after { $0.timePassed(at: $1) }
    }

    /// Has the host wake the shard when it next has something to do. To be called after a change that was no event.
    public func wakeInTime() {
        guard let host, let next = shard.nextDeadline else { return }
        if let wakesAt, wakesAt <= next { return }
        wakesAt = next
        host.wake(at: next)
    }

    private func carryOut(_ actions: [ShardAction], on host: any ShardHost) {
        host.happened(actions)
        guard !actions.isEmpty else { return }
        guard !isCarryingOut else {
            waiting += actions
            return
        }
        isCarryingOut = true
        var next = actions
        while !next.isEmpty {
            carryOutAll(next, on: host)
            next = waiting
            waiting = []
        }
        isCarryingOut = false
    }

    /// Sessions that are listed one after the other, as after an outage, are listed with one request.
    private func carryOutAll(_ actions: [ShardAction], on host: any ShardHost) {
        var index = actions.startIndex
        while index < actions.endIndex {
            let action = actions[index]
            index += 1
            guard case .store(.list(var list)) = action else {
                host.carryOut(action)
                continue
            }
            while index < actions.endIndex, list.sessions.count < Self.listBatch,
                case .store(.list(let other)) = actions[index],
                other.incarnation == list.incarnation, other.until == list.until
            {
                list.sessions += other.sessions
                index += 1
            }
            host.carryOut(.store(.list(list)))
        }
    }
}

// What comes from Redis besides replies.
extension ShardShell {
    /// The worker's lease has changed.
    public func told(_ news: LeaseNews) {
        after { shard, now in
            switch news {
            case .began(let incarnation, let isFirst, let snapshot, let until, let clock):
                shard.incarnationBegan(incarnation, isFirst: isFirst, snapshot, until: until, clock: clock, at: now)
            case .renewed(let incarnation, let snapshot, let until, let clock, let afterGap):
                shard.leaseRenewed(
                    of: incarnation, snapshot, until: until, clock: clock, afterGap: afterGap, at: now)
            case .heartbeatsFail: shard.heartbeatsFail(at: now)
            case .lost: shard.redisLost(at: now)
            }
        }
    }

    /// A message to the worker came, which may concern a session of this shard.
    public func noticed(_ notice: WorkerNotice) {
        guard let session = notice.session else { return }
        after { shard, now in
            switch notice {
            case .replaced: shard.replaced(session, at: now)
            case .sentAway: shard.sentAway(session, at: now)
            }
        }
    }

    /// Something was published. What an unreadable change is about is read from Redis.
    public func heard(_ payload: UnsafeRawBufferPointer, on topic: Topic) {
        switch topic {
        case .typing(let conversation):
            let change: TypingChange? = parsed(payload)
            after { shard, now in
                if let change { shard.typingChanged(change, in: conversation, at: now) }
                if change == nil { shard.typingUnreadable(in: conversation) }
                return []
            }
        case .presence(let user):
            let change: PresenceChange? = parsed(payload)
            after { shard, now in
                if let change { shard.presenceChanged(change, at: now) }
                if change == nil { shard.presenceUnreadable(of: user) }
                return []
            }
        case .members(let conversation):
            let change: MemberChange = parsed(payload) ?? .reset
            after { $0.memberChanged(change, in: conversation, at: $1) }
        case .worker:
            if let notice = WorkerNotice(payload: payload) { host?.received(notice) }
        }
    }

    private func parsed<Change: JSONReadable>(_ payload: UnsafeRawBufferPointer) -> Change? {
        let change = try? Change(jsonText: payload)
        if change == nil { host?.couldNotRead(Change.self) }
        return change
    }
}
