// What an observer of one conversation's members sees. The worker tells the list first and then each person's presence;
// the first picture waits until it is whole, so that nobody reads `0 of 5 online` for a moment.

/// Who belongs to one conversation, as far as the worker's words go.
struct MembersPicture {
    /// How long the first picture waits for the presence of all.
    static let patience = Duration.seconds(1)

    let conversation: ConversationID
    private var list: ServerMessage.Members?
    private var presences: [UserID: Presence] = [:]
    private var refusal: RollcallError?
    private var isShown = false
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant?

    init(of conversation: ConversationID) {
        self.conversation = conversation
    }

    var users: [UserID] { list?.users.map(\.user) ?? [] }

    /// - Returns: who is new on the list, and who has left it.
    mutating func heard(
        _ message: ServerMessage.Members, at now: ContinuousClock.Instant
    ) -> (come: [UserID], gone: [UserID]) {
        let (before, after) = (Set(users), Set(message.users.map(\.user)))
        list = message
        refusal = nil
        presences = presences.filter { after.contains($0.key) }
        if !isShown, deadline == nil { deadline = now + Self.patience }
        return (after.subtracting(before).sorted(), before.subtracting(after).sorted())
    }

    mutating func heard(_ presence: Presence) {
        presences[presence.user] = presence
    }

    /// The worker shows nothing of this conversation (any more). What it shows later is a first picture again.
    ///
    /// - Returns: who was on the list.
    mutating func refused(_ error: RollcallError) -> [UserID] {
        let gone = users
        (list, presences, refusal) = (nil, [:], error)
        (isShown, deadline) = (false, nil)
        return gone
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        if let deadline, now >= deadline { show() }
    }

    /// What to show; `nil` while it is not whole.
    ///
    /// - Parameter name: the app's name for a user.
    mutating func members(name: (UserID) -> String?) -> Members? {
        if let refusal { return Members(conversation: conversation, refusal: refusal) }
        guard let list else { return nil }
        let people = list.users.map {
            Member(user: $0.user, name: name($0.user) ?? $0.name, presence: presences[$0.user])
        }
        if people.allSatisfy({ $0.presence != nil }) { show() }
        guard isShown else { return nil }
        return Members(conversation: conversation, people: people, count: max(list.count, people.count))
    }

    private mutating func show() {
        isShown = true
        deadline = nil
    }
}
