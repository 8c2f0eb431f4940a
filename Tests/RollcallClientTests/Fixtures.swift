// Shared by the client's tests.

import RollcallProtocol

@testable import RollcallClient

extension ServerMessage.Limits {
    static let standard = Self(
        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 50, messageBurst: 200)
}

extension Presence {
    static func of(_ user: UserID, _ status: PresenceStatus, lastSeen: Int64? = nil, version: Int64? = nil) -> Presence
    {
        Presence(
            user: user, status: status, lastSeen: lastSeen.map { Timestamp(milliseconds: $0) }, updatedAt: nil,
            version: version ?? (status == .offline && lastSeen == nil ? 0 : 1))
    }
}

extension Typing {
    /// Typing users with these names and the lower-case names as ids.
    static func of(_ names: String..., count: Int? = nil) -> Typing {
        Typing(
            conversation: "c42", typists: names.map { Typist(user: try! UserID($0.lowercased()), name: $0) },
            count: count)
    }
}
