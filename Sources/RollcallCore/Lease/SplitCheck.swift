// Whether all connections of a worker lead to the same Redis. A proxy or a service name may come to mean another server
// while only some of the connections are cut. After each heartbeat, an event loop looks for its traces: the lease, on
// its connection for commands, and a message, on its connection for messages. A cluster has its slot map instead.

package import RollcallProtocol

/// Counts in a row how often a connection that answers showed no trace of a heartbeat.
package struct MissedBeats: Hashable, Sendable {
    /// Clearing all keys or a new lease causes one or two.
    package static let most = 3

    private var count = 0

    package init() {}

    /// - Returns: whether the connection leads elsewhere.
    package mutating func looked(_ isFound: Bool) -> Bool {
        count = isFound ? 0 : count + 1
        return count >= Self.most
    }
}

/// What an event loop has seen of the heartbeats of the worker's latest incarnation.
package struct SplitCheck: Hashable, Sendable {
    package let incarnation: Incarnation
    private var lease = MissedBeats()
    private var messages = MissedBeats()
    private var hasMessage = false
    private var isPinging = false

    package init(of incarnation: Incarnation) { self.incarnation = incarnation }

    /// Handles a read of the lease after a heartbeat was answered.
    ///
    /// - Returns: whether the connection for commands leads elsewhere.
    package mutating func leaseRead(isFound: Bool) -> Bool { lease.looked(isFound) }

    /// Handles the message of a heartbeat.
    package mutating func messageArrived() { hasMessage = true }

    /// - Returns: whether to send a ping on the connection for messages, now that a heartbeat was answered. Redis sends
    ///   the message before it answers the ping, however slow the connection is. One ping is sent at a time: of two, the
    ///   first could be credited with the message of the second.
    package mutating func beginPing() -> Bool {
        defer { isPinging = true }
        return !isPinging
    }

    /// Handles the answer to the ping.
    ///
    /// - Returns: whether the connection for messages leads elsewhere.
    package mutating func pingAnswered() -> Bool {
        defer { (isPinging, hasMessage) = (false, false) }
        return messages.looked(hasMessage)
    }

    /// Handles the loss of the connection for messages, and with it of the answer.
    package mutating func connectionLost() { isPinging = false }
}
