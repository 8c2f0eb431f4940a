// Counters of a shard's driver.

internal import RollcallModel

/// What a shard's driver has done since it started, and how many connections it has.
struct DriverTally {
    /// Open connections.
    var connections = 0
    /// Messages sent to connections.
    private(set) var sent = Counts<MessageKind>()
    /// Messages to connections that had ended.
    private(set) var dropped = 0
    /// From publishing a typing signal until Redis confirms it.
    var publishing = Histogram()

    mutating func handed(_ message: ServerMessage, to receivers: Int, of all: Int) {
        sent.count(MessageKind(message), times: receivers)
        dropped += all - receivers
    }
}

/// The type of a message to a client: values of a metric label.
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
