// What carrying a shard's decisions out comes to, in numbers for those who operate it.

internal import RollcallModel

/// What a shard's driver has done since it began, and how many it serves.
struct DriverTally {
    /// Connections that stand.
    var connections = 0
    /// Messages handed to connections.
    private(set) var sent = Counts<MessageKind>()
    /// Messages to connections that had ended.
    private(set) var dropped = 0
    /// From a typing signal's going on to Redis until Redis took it.
    var publishing = Histogram()

    mutating func handed(_ message: ServerMessage, to receivers: Int, of all: Int) {
        sent.count(MessageKind(message), times: receivers)
        dropped += all - receivers
    }
}

/// What kind a message to a client is, in a word.
enum MessageKind: String, CaseIterable {
    case welcome, presence, typing, members, removed, pong, ack, error, goodbye

    init(_ message: ServerMessage) {
        self =
            switch message {
            case .welcome: .welcome
            case .presence: .presence
            case .typing: .typing
            case .members: .members
            case .removed: .removed
            case .pong: .pong
            case .ack: .ack
            case .error: .error
            case .goodbye: .goodbye
            }
    }
}
