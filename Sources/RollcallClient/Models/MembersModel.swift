// The members of a group with their presence, for views.

public import Observation

/// The members of a conversation and their presence, for a view to observe.
///
///     Text(group.countText)                             // "3 of 5 online"
///     ForEach(group.people) { Row($0.name, PresenceDot($0.presence)) }
///
/// Updated on the main actor, until the model is released.
@MainActor @Observable
public final class MembersModel {
    public let conversation: ConversationID
    public private(set) var members: Members

    @ObservationIgnored private let language: Language
    @ObservationIgnored private var changes: Following?

    /// Creates a model of a conversation's members. ``countText`` is in `language`.
    public init(of conversation: ConversationID, from client: RollcallClient, language: Language = .english) {
        self.conversation = conversation
        self.language = language
        members = Members(conversation: conversation)
        changes = client.members(of: conversation).follow(for: self) { $0.members = $1 }
    }

    public var people: [Member] { members.people }
    public var count: GroupCount { members.groupCount }
    /// `3 of 5 online`; empty while the members are not known, or if there are none.
    public var countText: String { members.count == 0 ? "" : count.text(in: language) }
}
