// What all owners of a shard share: its host, its settings, what it knows of Redis, one queue of reminders, and the rule that
// one event happens after the other.

internal import RollcallProtocol

/// The event loop of one shard, as the owners of its state see it. Used on one thread only, its host's.
final class Loop {
    enum Reminder: Hashable {
        case session(Session)
        case typing(Session)
        /// Messages of a user's sessions that wait may be processed.
        case turns(UserID)
        /// A deferred change of a device's state may be written, or of a user be shown.
        case state(Session)
        case watch(Watch)
        /// What a user has decided that others see may end.
        case person(UserID)
        case room(Room)
        /// An admission ends, or may have to be renewed.
        case access(Room)
        case members(Room)
        case here(Room)
        /// Somebody has been here for as long as apps' servers have said.
        case hereEnds(Room)
        /// `get`s of a session have waited for its joins for long enough.
        case gets(Session)
        case entry(Entry)
        case backendEntry(BackendEntry)
        /// Weaker states may be written under the new incarnation.
        case weakerStates
    }

    /// Set before the first event.
    unowned var host: (any Host)!
    let settings: ShardSettings
    /// What the loop of the lease last published.
    private(set) var redis: RedisState
    /// Counters of what has happened so far. Every owner counts.
    var tally = ShardTally()
    /// Handles the reply to the listing of a session; false if it came too late. The owner of the records sets it.
    var onListed: ((Result<Bool, StoreFailure>, SessionName, Session, Incarnation, Instant) -> Void)?

    private let directStore: any PresenceStore
    /// Sessions to list with one request; see ``list(_:of:under:)``.
    private var toList: [(name: SessionName, session: Session)] = []
    private var timers = Timers<Reminder>()
    /// Whether an event happens at this moment. What comes meanwhile has to wait.
    private(set) var isInEvent = false
    private var endsTickSoon = false
    private var wakesAt: Instant?

    init(settings: ShardSettings, store: any PresenceStore, redis: RedisState) {
        (self.settings, directStore, self.redis) = (settings, store, redis)
    }

    /// Handles a change of the worker's lease.
    func leaseChanged(to new: RedisState) { redis = new }

    // MARK: Events

    /// Lets an event happen: a reply, most often.
    func after(_ event: (_ now: Instant) -> Void) {
        eventBegins()
        event(host.now)
        eventEnds()
        endTickSoon()
    }

    func eventBegins() {
        assert(!isInEvent, "an event comes inside another")
        isInEvent = true
    }

    func eventEnds() {
        sendLists()
        isInEvent = false
        wakeInTime()
    }

    func endTickSoon() {
        guard !endsTickSoon else { return }
        endsTickSoon = true
        host.endTickSoon()
    }

    func tickEnds() { endsTickSoon = false }

    // MARK: Time

    /// When the next reminder comes up.
    var nextReminder: Instant? { timers.next }

    func remind(_ reminder: Reminder, at instant: Instant) { timers.remind(reminder, at: instant) }

    func forget(_ reminder: Reminder) { timers.forget(reminder) }

    /// The host has woken the shard.
    func woke() { wakesAt = nil }

    /// Removes and returns a reminder that has come up.
    func nextDue(at now: Instant) -> Reminder? { timers.popDue(at: now) }

    /// Has the host wake the shard when it next has something to do.
    func wakeInTime() {
        guard let next = timers.next else { return }
        if let wakesAt, wakesAt <= next { return }
        wakesAt = next
        host.wake(at: next)
    }

    // MARK: Redis

    /// Redis. What waits to be listed is asked for first, so that requests keep their order.
    var store: any PresenceStore {
        sendLists()
        return directStore
    }

    /// Puts a session on an incarnation's list. Sessions that are listed one after the other, as after an outage, are listed
    /// with one request.
    func list(_ name: SessionName, of session: Session, under incarnation: Incarnation) {
        toList.append((name, session))
        if toList.count == ShardSettings.listBatch { sendLists() }
    }

    private func sendLists() {
        guard !toList.isEmpty, let incarnation = redis.incarnation else { return }
        let until = redis.until
        let sessions = toList
        toList = []
        directStore.list(sessions.map(\.name), of: incarnation, until: until) { [self] reply in
            after { now in
                for (name, session) in sessions {
                    onListed?(reply, name, session, incarnation, now)
                }
            }
        }
    }

    /// Reads what was published; `nil` if it is another version's, or not Rollcall's.
    func parsed<Change: JSONReadable>(_ payload: UnsafeRawBufferPointer) -> Change? {
        let change = try? Change(jsonText: payload)
        if change == nil { host.couldNotRead(Change.self) }
        return change
    }
}
