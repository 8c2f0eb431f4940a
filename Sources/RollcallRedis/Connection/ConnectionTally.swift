// What a connection to Redis does, in numbers for those who operate it. They are counted where it happens, without any
// name in them, and read once in a while.

package import RollcallModel

/// What a connection has done since it was made. Each number only grows.
package struct ConnectionTally: Hashable, Sendable {
    /// How often it has come to stand.
    package internal(set) var connects = 0
    /// Commands sent, those of the handshake and pings among them.
    package internal(set) var commands = 0
    /// Messages heard on subscribed channels.
    package internal(set) var messages = 0
    package internal(set) var sentBytes = 0
    package internal(set) var receivedBytes = 0
    /// Errors that Redis answered, and connections that were lost or did not come to be.
    package private(set) var errors = Counts<RedisErrorKind>()
    /// From a command's sending to its reply.
    package private(set) var roundTrips = Histogram()

    mutating func answered(after nanoseconds: Int64) {
        roundTrips.record(nanoseconds: nanoseconds)
    }

    /// Redis answered with an error, or a command could not be sent.
    mutating func failed(_ error: RedisError) {
        if let kind = RedisErrorKind(error.code) { errors.count(kind) }
    }

    /// What several have done.
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

    /// The connection ended. Where an answer ended it, that is counted.
    mutating func lost(by error: RedisError) {
        if case .server = error.code { return }
        failed(error)
    }
}

/// Why something failed, in few words, of which there are never more.
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
    /// Whatever else Redis may answer.
    case other

    /// `nil` for what only follows from a failure that was counted, or from none.
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
