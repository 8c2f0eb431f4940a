// What a fault expects to be observed.

internal import RollcallClient

/// Something that observers should see from some moment on.
struct Expectation: Sendable {
    enum Thing: Sendable {
        case status(UserID, PresenceStatus)
        case types(UserID, in: ConversationID)
        case typesNot(UserID, in: ConversationID)
        /// The stage's room is open on one of the user's devices, or on none.
        case here(UserID, Bool)
    }

    let thing: Thing
    let promise: Promise
    /// The event that should cause it.
    let since: Moment
    /// The time limit.
    let within: Duration
    /// The moment until which it should stay so; `nil` for the end of the round.
    var until: Moment?
    /// How much later than within ``Promise/convergenceLimit`` a worker may show it that could not know it before.
    var lateness = Duration.zero

    var deadline: Moment { since + within }
}

/// Something that must not be observed.
struct Prohibition: Sendable {
    let promise: Promise
    let user: UserID
    let statuses: Set<PresenceStatus>
    let from: Moment
    /// `nil` for the end of the round.
    var until: Moment?
    var who = Watchers.all

    /// What this means for a user who has the room open on every device. Lists have no versions: an older state of Redis is
    /// shown until it is swept.
    func forbids(here: Bool) -> Bool {
        guard promise != .order else { return false }
        return here ? statuses.isSuperset(of: [.online, .away]) : statuses.contains(.offline)
    }

    enum Watchers: Sendable {
        /// Observers and reads.
        case all
        case observers
        /// Observers on other hosts than this one.
        case others(than: Int)
        case reads

        /// Returns whether observers on this host are included.
        func observe(on host: Int) -> Bool {
            switch self {
            case .all, .observers: true
            case .others(let other): host != other
            case .reads: false
            }
        }

        var read: Bool {
            switch self {
            case .all, .reads: true
            case .observers, .others: false
            }
        }
    }
}

/// A read through a worker, and its result.
struct Read: Sendable {
    let host: Int
    let began: Moment
    let ended: Moment
    /// `nil` if the worker could not answer.
    let statuses: [UserID: PresenceStatus]?
}
