public import RollcallProtocol

/// A published change, as its subscribers receive it.
public enum Published: Hashable, Sendable {
    case typing(TypingChange, in: ConversationID)
    /// The user's presence, with the number of devices that are not gone.
    case presence(PresenceChange, devices: Int)
    case person(PersonChange)
    case members(MemberChange, of: ConversationID)
    case here(HereChange, in: ConversationID)
    case notice(WorkerNotice, to: Incarnation)

    public var topic: Topic {
        switch self {
        case .typing(_, let conversation): .typing(conversation)
        case .presence(let change, _): .presence(change.presence.user)
        case .person(let change): .presence(change.user)
        case .members(_, let conversation): .members(conversation)
        case .here(_, let conversation): .here(conversation)
        case .notice(_, let incarnation): .worker(incarnation)
        }
    }
}
