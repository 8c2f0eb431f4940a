// Where the most people type, for those who operate a worker. Looked up when somebody asks.

public import RollcallModel

/// A conversation that is joined, as it is just now.
public struct BusyConversation: Hashable, Sendable {
    public var conversation: ConversationID
    /// How many people type there.
    public var typing: Int
    /// How many sessions have joined it.
    public var joined: Int

    public init(conversation: ConversationID, typing: Int, joined: Int) {
        self.conversation = conversation
        self.typing = typing
        self.joined = joined
    }

    /// The busiest of what several shards follow. Each knows all that type in a conversation, and its own sessions.
    ///
    /// Where as many type the names decide, for every shard alike: a conversation that is among the busiest of all is so
    /// on each shard where it is joined, and none of its sessions is left out.
    public static func busiest(_ count: Int, of shards: [[BusyConversation]]) -> [BusyConversation] {
        let found = shards.joined().reduce(into: [ConversationID: BusyConversation]()) { found, one in
            let other = found[one.conversation]
            found[one.conversation] = BusyConversation(
                conversation: one.conversation, typing: max(one.typing, other?.typing ?? 0),
                joined: one.joined + (other?.joined ?? 0))
        }
        return Array(found.values.sorted { $0.isBusier(than: $1) }.prefix(count))
    }

    fileprivate func isBusier(than other: BusyConversation) -> Bool {
        typing == other.typing ? conversation < other.conversation : typing > other.typing
    }
}

extension Shard {
    /// The conversations in which the most people type, the busiest first; none where nobody does.
    public func busiest(_ count: Int, at now: Instant) -> [BusyConversation] {
        let busy = rooms.keys.compactMap { key in
            rooms[key].map {
                BusyConversation(
                    conversation: $0.conversation, typing: $0.typists.count(at: now), joined: $0.sessions.keys.count)
            }
        }
        return Array(busy.filter { $0.typing > 0 }.sorted { $0.isBusier(than: $1) }.prefix(count))
    }
}
