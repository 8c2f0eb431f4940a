// The errors between a command and its reply. They name the command, but never its arguments, which contain user names
// and texts.

public import RollcallProtocol

/// Why a command has no reply, or a connection failed.
public struct RedisError: Error, Sendable {
    /// The kind of error, for programs.
    public enum Code: Hashable, Sendable {
        /// There is no connection at this moment; the command was not sent.
        case notConnected
        /// The connection ended before the reply. The command may have run.
        case connectionLost
        /// No reply, or no data at all, arrived in time. The command may have run.
        case timedOut
        /// ``ConnectionSettings/maximumWaiting`` commands wait for their replies; this one was not sent.
        case tooManyWaiting
        /// Redis replied with an error of this kind, such as `READONLY`, `OOM` or `NOSCRIPT`.
        case server(kind: ByteString)
        /// Redis sent data that the protocol does not allow, or that exceeds the limits.
        case protocolError
        /// Redis rejected the user or the password.
        case authentication
        /// Connecting failed: no server answers at the address, or not with the expected protocol.
        case connectFailed
        /// The connection was dropped because another server is the primary now. A command may have run.
        case primaryChanged
        /// The connection was closed by its owner.
        case closed
    }

    private let storage: Storage

    public init(_ code: Code, command: String? = nil, _ sentence: String, underlying: (any Error)? = nil) {
        self.init(code, command: command, sentence, reply: nil, underlying)
    }

    private init(_ code: Code, command: String?, _ sentence: String, reply: ByteString?, _ underlying: (any Error)?) {
        storage = Storage(
            code: code, command: command, sentence: sentence, reply: reply, underlying: underlying)
    }

    /// The error that Redis replied, such as `READONLY You can't write against a read only replica.` Its first word is
    /// the kind.
    ///
    /// Before Redis 7.0, an error inside a script is wrapped as `ERR Error running script (call to f_…): …: -KIND …`;
    /// this takes the inner error. Redis replies to an unknown command with the first of its arguments, which are cut.
    ///
    /// - Parameter sentence: by default, the reply.
    package init(reply line: ByteString, command: String, code: Code? = nil, sentence: String? = nil) {
        var cause = line.string.utf8[...]
        if line.begins(with: "ERR Error running script"), let mark = line.firstBytes(of: ": -") {
            cause = cause[mark.upperBound...]
        }
        if let end = cause.firstRange(of: ", with args beginning with".utf8)?.lowerBound { cause = cause[..<end] }
        let reply = ByteString(decoding: cause)
        let kind = reply.cut(at: " ")?.before ?? reply
        self.init(
            code ?? .server(kind: kind), command: command, sentence ?? "Redis answered: \(reply)", reply: reply, nil)
    }

    public var code: Code { storage.code }
    /// The name of the failed command; `nil` if no command failed.
    public var command: String? { storage.command }
    /// A description for people.
    public var sentence: String { storage.sentence }
    /// What Redis replied, if it replied with an error.
    public var reply: ByteString? { storage.reply }
    public var underlying: (any Error)? { storage.underlying }

    /// Whether the command certainly had no effect: it was never sent, or Redis rejected it before it changed anything.
    ///
    /// This holds for commands outside scripts, and for scripts that begin with a write to the key that they change
    /// (`device_write`, `sessions_record`, `sweep_device`): Redis rejects all of such a script or none of it. It does
    /// not hold for `typing_signal`, which may encounter a key of another type after its first write.
    package var hadNoEffect: Bool {
        switch code {
        case .notConnected, .tooManyWaiting: true
        case .server(let kind): Self.refusals.contains(kind)
        case .connectionLost, .timedOut, .protocolError, .authentication, .connectFailed, .primaryChanged, .closed:
            false
        }
    }

    /// Whether Redis replied that it accepts no writes at the moment but still answers reads. A cluster that is down
    /// (`CLUSTERDOWN`) and a replica without its primary (`MASTERDOWN`) refuse both.
    public var refusesWrites: Bool {
        if case .server(let kind) = code { Self.refusalsOfWrites.contains(kind) } else { false }
    }

    private static let refusalsOfWrites: Set<ByteString> = ["MISCONF", "NOREPLICAS", "OOM", "READONLY"]
    private static let refusals = refusalsOfWrites.union([
        "ASK", "BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED", "NOAUTH", "NOSCRIPT", "TRYAGAIN", "WRONGTYPE",
    ])

    /// Whether it is about the connection and not about the command: this one leads to a server, or is that of a user, with which
    /// no command can succeed. Another connection may be better.
    package var isAboutConnection: Bool {
        if case .server(let kind) = code { Self.refusalsOfConnections.contains(kind) } else { code == .authentication }
    }

    private static let refusalsOfConnections: Set<ByteString> = [
        "DENIED", "MASTERDOWN", "NOAUTH", "READONLY", "WRONGPASS",
    ]

    /// Whether a key with one of Rollcall's names has another type. Such a foreign key is not changed or removed by
    /// Rollcall.
    public var isForeignKey: Bool { code == .server(kind: "WRONGTYPE") }

    /// Whether Redis does not know the command: it is too old, or the command was renamed.
    package var isUnknownCommand: Bool {
        reply.map { ByteString($0.start(atMost: 12)).isWord("err unknown ") } ?? false
    }

    /// Whether Redis denied the command because the user lacks a right. Before Redis 7.0, a denial inside a script has
    /// no error code, only this sentence.
    public var isDenied: Bool {
        code == .server(kind: "NOPERM") || reply?.firstBytes(of: "The user executing the script can't") != nil
    }

    /// A single reference, so that a `Result` with this error stays small.
    private final class Storage: Sendable {
        let code: Code
        let command: String?
        let sentence: String
        let reply: ByteString?
        let underlying: (any Error)?

        init(code: Code, command: String?, sentence: String, reply: ByteString?, underlying: (any Error)?) {
            self.code = code
            self.command = command
            self.sentence = sentence
            self.reply = reply
            self.underlying = underlying
        }
    }
}

extension RedisError {
    static let closed = RedisError(.closed, "the connection was closed")

    /// Returns the error for a `command` that was not sent because there is no connection.
    static func notSent(_ command: String, because cause: RedisError?) -> RedisError {
        let code: Code = cause?.code == .closed ? .closed : .notConnected
        return RedisError(code, command: command, "there is no connection to Redis", underlying: cause)
    }

    /// Returns the error for a `command` whose reply was pending when the connection ended with this error.
    func whileWaiting(_ command: String) -> RedisError {
        switch code {
        case .closed, .timedOut:
            RedisError(code, command: command, sentence, underlying: underlying)
        case .notConnected, .connectionLost, .tooManyWaiting, .server, .protocolError, .authentication,
            .connectFailed, .primaryChanged:
            RedisError(.connectionLost, command: command, "the connection to Redis was lost", underlying: self)
        }
    }
}

extension RedisError: CustomStringConvertible {
    public var description: String { command.map { "\($0): \(sentence)" } ?? sentence }
}

/// The kind of an error, from a fixed set: for counters.
package enum RedisErrorKind: String, CaseIterable, Sendable {
    case connectFailed = "connect_failed"
    case connectionLost = "connection_lost"
    case timedOut = "timed_out"
    case primaryChanged = "primary_changed"
    case protocolError = "protocol"
    case authentication
    case tooManyWaiting = "too_many_waiting"
    case ask, busy, clusterdown, loading, masterdown, misconf, moved, noperm, noscript, oom, readonly, tryagain
    case wrongtype
    /// Any other error reply.
    case other

    /// The first word of such an error reply; other kinds are no words of Redis.
    private var kind: ByteString { ByteString(rawValue.uppercased()) }

    /// `nil` for errors that only follow from a failure already counted, or from none.
    init?(_ code: RedisError.Code) {
        switch code {
        case .notConnected, .closed: return nil
        case .connectFailed: self = .connectFailed
        case .connectionLost: self = .connectionLost
        case .timedOut: self = .timedOut
        case .primaryChanged: self = .primaryChanged
        case .protocolError: self = .protocolError
        case .authentication: self = .authentication
        case .tooManyWaiting: self = .tooManyWaiting
        case .server(let kind): self = Self.allCases.first { kind == $0.kind } ?? .other
        }
    }
}
