// What one observer was shown, as a person at the screen would have seen it.

internal import Harness
internal import RollcallClient

/// An observer's diary, by subject.
struct Sight: Sendable {
    let host: Int
    private(set) var statuses: [UserID: Timeline<PresenceStatus>] = [:]
    private(set) var typists: [ConversationID: Timeline<Set<UserID>>] = [:]
    /// Whether users were shown to have the stage's room open.
    private(set) var here: [UserID: Timeline<Bool>] = [:]
    /// Periods without a connection.
    private(set) var away: [Range<Moment>] = []
    /// Updates with an older version, or an earlier last-seen time, than what was shown before on the same connection.
    private(set) var setbacks: [Setback] = []

    struct Setback: Sendable {
        let at: Moment
        let what: String
        /// How far it went back, if it is a time by Redis's clock: a last-seen time, or the version of a user who was
        /// never seen, which is the time of the read.
        var clockTime: Duration?
    }

    private var shown: [UserID: Presence] = [:]

    /// - Parameters:
    ///   - host: the observer's host.
    ///   - expiry: `typing.expiry`. Two seconds after it, a client stops displaying a set that was not repeated.
    init(of notes: [Note], on host: Int, expiry: Duration, until end: Moment) {
        self.host = host
        var lost: Moment? = notes.first?.at
        for note in notes where note.at <= end {
            switch note.event {
            case .presence(let presence): take(presence, at: note.at)
            case .typing(let typing): take(typing, at: note.at, patience: expiry + .seconds(2))
            case .here(let message):
                let users = Set(message.users.map(\.user))
                for user in users.union(here.keys) {
                    here[user, default: Timeline()].became(users.contains(user), at: note.at)
                }
            case .welcomed:
                if let start = lost { away.append(start..<note.at) }
                lost = nil
                shown = [:]
            case .ended, .left: lost = lost ?? note.at
            case .tried, .joined, .signalled, .removed, .refreshed, .goodbye: break
            }
        }
        if let start = lost { away.append(start..<max(start, end)) }
        for conversation in typists.keys { distrust(conversation, patience: expiry + .seconds(2), at: end) }
    }

    private mutating func take(_ presence: Presence, at moment: Moment) {
        statuses[presence.user, default: Timeline()].became(presence.status, at: moment)
        if let before = shown[presence.user] {
            let user = presence.user.escaped
            // A user who was never seen has version 0.
            if presence.version > 0, presence.version < before.version {
                let back = Duration.milliseconds(before.version - presence.version)
                setbacks.append(
                    Setback(
                        at: moment, what: "\(user): version \(before.version), then \(presence.version)",
                        clockTime: before.updatedAt == nil ? back : nil))
            }
            if let earlier = before.lastSeen, presence.lastSeen.map({ $0 < earlier }) ?? true {
                setbacks.append(
                    Setback(
                        at: moment, what: "\(user): last seen moved back from \(earlier.milliseconds)",
                        clockTime: presence.lastSeen.map { earlier.since($0) }))
            }
        }
        shown[presence.user] = presence
    }

    private mutating func take(_ typing: ServerMessage.Typing, at moment: Moment, patience: Duration) {
        distrust(typing.conversation, patience: patience, at: moment)
        lastWord[typing.conversation] = moment
        typists[typing.conversation, default: Timeline()].became(Set(typing.users.map(\.user)), at: moment)
    }

    private var lastWord: [ConversationID: Moment] = [:]

    /// Ends a set that was not repeated for too long: workers repeat sets that are not empty, and clients stop
    /// displaying them otherwise.
    private mutating func distrust(_ conversation: ConversationID, patience: Duration, at moment: Moment) {
        guard let last = lastWord[conversation], last + patience < moment,
            typists[conversation]?.changes.last?.value.isEmpty == false
        else { return }
        typists[conversation]?.became([], at: last + patience)
    }
}
