// Counters of a connection to Redis, for operators. They are updated where things happen, contain no names, and are
// read at intervals.

package import RollcallModel

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

/// The kind of an error, from a fixed set.
package enum RedisErrorKind: String, CaseIterable, Sendable {
    case connectFailed = "connect_failed"
    case connectionLost = "connection_lost"
    case timedOut = "timed_out"
    case primaryChanged = "primary_changed"
    case protocolError = "protocol"
    case replyTooLarge = "reply_too_large"
    case authentication
    case tooManyWaiting = "too_many_waiting"
    case ask
    case busy
    case clusterDown = "clusterdown"
    case loading
    case masterDown = "masterdown"
    case misconfigured = "misconf"
    case moved
    case noPermission = "noperm"
    case noScript = "noscript"
    case outOfMemory = "oom"
    case readOnly = "readonly"
    case tryAgain = "tryagain"
    case wrongType = "wrongtype"
    /// Any other error reply.
    case other

    /// `nil` for errors that only follow from a failure already counted, or from none.
    init?(_ code: RedisError.Code) {
        switch code {
        case .notConnected, .closed: return nil
        case .connectFailed: self = .connectFailed
        case .connectionLost: self = .connectionLost
        case .timedOut: self = .timedOut
        case .primaryChanged: self = .primaryChanged
        case .protocolError: self = .protocolError
        case .replyTooLarge: self = .replyTooLarge
        case .authentication: self = .authentication
        case .tooManyWaiting: self = .tooManyWaiting
        case .server(let kind): self = Self(rawValue: kind.lowercased()) ?? .other
        }
    }
}
