// A group as a view shows it: its people with their dots, and how many are here.

public import Observation

/// Who belongs to a conversation and who of them is here, for a view to observe.
///
///     Text(group.countText)                             // "3 of 5 online"
///     ForEach(group.people) { Row($0.name, PresenceDot($0.presence)) }
@MainActor @Observable
public final class MembersModel {
    public let conversation: ConversationID
    public private(set) var members: Members

    @ObservationIgnored private let language: Language
    @ObservationIgnored private var changes: Following?

    /// A model of a conversation's members, which says how many are here in a language.
    public init(of conversation: ConversationID, from client: RollcallClient, language: Language = .english) {
        self.conversation = conversation
        self.language = language
        members = Members(conversation: conversation)
        changes = client.members(of: conversation).follow(for: self) { $0.members = $1 }
    }

    public var people: [Member] { members.people }
    public var count: GroupCount { members.groupCount }
    /// `3 of 5 online`; empty where no members are set, or known yet.
    public var countText: String { members.count == 0 ? "" : count.text(in: language) }
}
