// What a fault says should be seen, to be held against what was seen.

internal import RollcallClient

/// Something that observers should see from some moment on.
struct Expectation: Sendable {
    enum Thing: Sendable {
        case status(UserID, PresenceStatus)
        case types(UserID, in: ConversationID)
        case typesNot(UserID, in: ConversationID)
    }

    let thing: Thing
    let promise: Promise
    /// What it should follow upon.
    let since: Moment
    /// How long it may take.
    let within: Duration
    /// Until when it should stay so; `nil` is to the end of the round.
    var until: Moment?

    var deadline: Moment { since + within }
}

/// Something that nobody should ever see.
struct Prohibition: Sendable {
    let promise: Promise
    let user: UserID
    let statuses: Set<PresenceStatus>
    let from: Moment
    /// `nil` is to the end of the round.
    var until: Moment?
    var who = Watchers.all

    enum Watchers: Sendable {
        /// Observers and reads.
        case all
        case observers
        /// Those on other hosts than this one.
        case others(than: Int)
        case reads

        /// Whether those count who observe on this host.
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

/// A read through a worker, and what it answered.
struct Read: Sendable {
    let host: Int
    let began: Moment
    let ended: Moment
    /// `nil` if the worker could not tell.
    let statuses: [UserID: PresenceStatus]?
}
