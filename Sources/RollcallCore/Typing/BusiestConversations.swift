// The conversations with the most typists, for operators. Computed on request.

public import RollcallProtocol

/// The current numbers of a joined conversation.
public struct BusyConversation: Hashable, Sendable {
    public var conversation: ConversationID
    /// The number of users who are typing.
    public var typing: Int
    /// The number of sessions that have joined.
    public var joined: Int

    public init(conversation: ConversationID, typing: Int, joined: Int) {
        self.conversation = conversation
        self.typing = typing
        self.joined = joined
    }

    /// Merges the busiest conversations of several shards. Each shard knows all typists of a conversation, but only its
    /// own sessions.
    ///
    /// Ties are broken by name on every shard. A conversation that is among the busiest overall is therefore among the
    /// busiest of each shard that has it, and all its sessions are counted.
    public static func busiest(_ count: Int, of shards: [[BusyConversation]]) -> [BusyConversation] {
        let found = shards.joined().reduce(into: [ConversationID: BusyConversation]()) { found, one in
            let other = found[one.conversation]
            found[one.conversation] = BusyConversation(
                conversation: one.conversation, typing: max(one.typing, other?.typing ?? 0),
                joined: one.joined + (other?.joined ?? 0))
        }
        return Array(found.values.sorted { $0.isBusier(than: $1) }.prefix(count))
    }

    /// Returns the rooms with the most typists, the busiest first, and none without typists.
    static func busiest(_ count: Int, of rooms: [Room], at now: Instant) -> [BusyConversation] {
        let busy = rooms.map {
            BusyConversation(
                conversation: $0.conversation, typing: $0.typing.typists.count(at: now),
                joined: $0.sessions.elements.count)
        }
        return Array(busy.filter { $0.typing > 0 }.sorted { $0.isBusier(than: $1) }.prefix(count))
    }

    private func isBusier(than other: BusyConversation) -> Bool {
        typing == other.typing ? conversation < other.conversation : typing > other.typing
    }
}
