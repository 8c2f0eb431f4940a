// Counters of a connection to Redis, for operators. They are updated where things happen, contain no names, and are
// read at intervals.

package import RollcallProtocol

/// What a connection has done since it was created. The numbers only grow.
package struct ConnectionTally: Hashable, Sendable {
    /// Successful connects.
    package internal(set) var connects = 0
    /// Commands sent, including those of the handshake and pings.
    package internal(set) var commands = 0
    /// Messages received on subscribed channels.
    package internal(set) var messages = 0
    package internal(set) var sentBytes = 0
    package internal(set) var receivedBytes = 0
    /// Error replies from Redis, lost connections and failed connection attempts.
    package private(set) var errors = Counts<RedisErrorKind>()
    /// The time from sending a command to its reply.
    package private(set) var roundTrips = Histogram()

    mutating func answered(after nanoseconds: Int64) {
        roundTrips.record(nanoseconds: nanoseconds)
    }

    /// Counts an error reply, or a command that could not be sent.
    mutating func failed(_ error: RedisError) {
        if let kind = RedisErrorKind(error.code) { errors.count(kind) }
    }

    /// Adds the counters of two connections.
    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.connects += right.connects
        sum.commands += right.commands
        sum.messages += right.messages
        sum.sentBytes += right.sentBytes
        sum.receivedBytes += right.receivedBytes
        for (kind, times) in right.errors.occurred { sum.errors.count(kind, times: times) }
        sum.roundTrips = left.roundTrips + right.roundTrips
        return sum
    }

    /// Counts the end of a connection. If an error reply ended it, that was counted already.
    mutating func lost(by error: RedisError) {
        if case .server = error.code { return }
        failed(error)
    }
}
