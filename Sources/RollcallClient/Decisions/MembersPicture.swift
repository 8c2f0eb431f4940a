// What an observer of a conversation's members sees. The worker sends the list first and then the presence of each
// member. The first value waits until it is complete, so that no app briefly shows `0 of 5 online`.

/// The members of one conversation, as the worker has sent them.
struct MembersPicture {
    /// How long the first value waits for the presence of all members.
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

    /// Handles a member list.
    ///
    /// - Returns: the users who were added to the list, and those who were removed.
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

    /// Handles that the worker shows nothing of this conversation, or no longer. If it shows it again, that starts with
    /// a complete first value.
    ///
    /// - Returns: the users who were on the list.
    mutating func refused(_ error: RollcallError) -> [UserID] {
        let gone = users
        (list, presences, refusal) = (nil, [:], error)
        (isShown, deadline) = (false, nil)
        return gone
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        if let deadline, now >= deadline { show() }
    }

    /// Returns the value to show; `nil` while it is not complete.
    ///
    /// - Parameter name: returns the app's name for a user.
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
