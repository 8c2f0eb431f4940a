// The limits of a worker.

internal import RollcallCore

/// All limits of a worker. The names are values of the metric label `limit` and do not change.
package enum Limit: String, CaseIterable, Sendable {
    case sessions
    case sessionsPerUser = "sessions_per_user"
    case hellosPerUser = "hellos_per_user"
    case connectionsPerAddress = "connections_per_address"
    case handshakes
    /// Descriptors available to this process.
    case openFiles = "open_files"
    case headerBytes = "header_bytes"
    case origins
    case hello
    case messageBytes = "message_bytes"
    case messageRate = "message_rate"
    case watchedUsers = "watched_users"
    case joinedConversations = "joined_conversations"
    case outboundBytes = "outbound_bytes"
    case frames
}

extension Limit {
    init(_ limit: SessionLimit) {
        self =
            switch limit {
            case .hello: .hello
            case .messageRate: .messageRate
            case .watchedUsers: .watchedUsers
            case .joinedConversations: .joinedConversations
            }
    }
}
