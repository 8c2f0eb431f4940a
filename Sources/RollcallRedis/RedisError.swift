// What can go wrong between a command and its reply. Errors name the command and never its arguments, which hold
// what people wrote and who they are.

import RollcallModel

/// Why a command has no reply, or a connection is none.
public struct RedisError: Error, Sendable {
    /// What happened, for programs.
    public enum Code: Hashable, Sendable {
        /// There is no connection at this moment; the command was not sent.
        case notConnected
        /// The connection ended before the reply came: the command may have run or not.
        case connectionLost
        /// The reply, or any sign of life, did not come in time: the command may have run or not.
        case timedOut
        /// ``ConnectionSettings/maximumWaiting`` commands wait for their replies; this one was not sent.
        case tooManyWaiting
        /// Redis answered with an error of this kind, such as `READONLY`, `OOM` or `NOSCRIPT`.
        case server(kind: String)
        /// Redis sent what the protocol does not allow, or more than we take.
        case protocolError
        /// The reply was larger than ``ConnectionSettings/maximumReplyBytes``: it was read past, and the connection
        /// stands.
        case replyTooLarge
        /// Redis refused the user or the password.
        case authentication
        /// Nobody answered at the location, or not in the way that was asked for.
        case connectFailed
        /// The connection was given up, since another server is the primary now: a command may have run or not.
        case primaryChanged
        /// The connection was closed by its owner.
        case closed
    }

    private let storage: Storage

    public init(_ code: Code, command: String? = nil, _ sentence: String, underlying: (any Error)? = nil) {
        storage = Storage(code: code, command: command, sentence: sentence, underlying: underlying)
    }

    public var code: Code { storage.code }
    /// The name of the command that failed, if it was one.
    public var command: String? { storage.command }
    /// What happened, for people.
    public var sentence: String { storage.sentence }
    public var underlying: (any Error)? { storage.underlying }

    /// Whether the same may succeed later.
    public var retry: Bool {
        switch code {
        case .notConnected, .connectionLost, .timedOut, .tooManyWaiting, .connectFailed, .primaryChanged: true
        case .server: (underlying as? RedisServerError)?.retry ?? false
        case .protocolError, .replyTooLarge, .authentication, .closed: false
        }
    }

    /// Whether the command certainly had no effect: it was never sent, or Redis refused it before anything was done.
    ///
    /// This holds for commands outside scripts, and for the scripts that begin with a write to the key that they change
    /// (`device_write`, `sessions_record`, `sweep_device`): Redis refuses all of such a script or none of it. It does
    /// not hold for `typing_signal`, which may find a key of another type after its first write.
    package var hadNoEffect: Bool {
        switch code {
        case .notConnected, .tooManyWaiting: true
        case .server(let kind): Self.refusals.contains(kind)
        case .connectionLost, .timedOut, .protocolError, .replyTooLarge, .authentication, .connectFailed,
            .primaryChanged,
            .closed:
            false
        }
    }

    /// Whether Redis answered that it takes no writes at all at this moment, and reads all the same. A cluster that is
    /// down (`CLUSTERDOWN`) and a replica without its primary (`MASTERDOWN`) refuse both.
    public var refusesWrites: Bool {
        if case .server(let kind) = code { Self.refusalsOfWrites.contains(kind) } else { false }
    }

    private static let refusalsOfWrites: Set<String> = ["MISCONF", "NOREPLICAS", "OOM", "READONLY"]
    private static let refusals = refusalsOfWrites.union([
        "ASK", "BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED", "NOAUTH", "NOSCRIPT", "TRYAGAIN", "WRONGTYPE",
    ])

    /// Whether something else has one of Rollcall's names: a key of another type, which is nobody's to touch and stays as
    /// long as whoever wrote it lets it.
    public var isForeignKey: Bool { code == .server(kind: "WRONGTYPE") }

    /// Whether Redis does not let this user do what was asked: somebody has to give the user a right. Before 7.0 Redis has
    /// a sentence and no word for it where a script asked.
    public var isDenied: Bool {
        code == .server(kind: "NOPERM") || sentence.firstBytes(of: "The user executing the script can't") != nil
    }

    /// One reference, so that a `Result` with an error in it stays small.
    private final class Storage: Sendable {
        let code: Code
        let command: String?
        let sentence: String
        let underlying: (any Error)?

        init(code: Code, command: String?, sentence: String, underlying: (any Error)?) {
            self.code = code
            self.command = command
            self.sentence = sentence
            self.underlying = underlying
        }
    }
}

extension RedisError {
    /// The error that Redis answered to `command`.
    public init(_ error: RedisServerError, command: String) {
        self.init(.server(kind: error.kind), command: command, "Redis answered: \(error)", underlying: error)
    }

    /// Why `command` was not sent, there being no connection.
    static func notSent(_ command: String, because cause: RedisError?) -> RedisError {
        let code: Code = cause?.code == .closed ? .closed : .notConnected
        return RedisError(code, command: command, "there is no connection to Redis", underlying: cause)
    }

    /// What this end of a connection means to a `command` that waited for its reply.
    func whileWaiting(_ command: String) -> RedisError {
        switch code {
        case .closed, .timedOut:
            RedisError(code, command: command, sentence, underlying: underlying)
        case .notConnected, .connectionLost, .tooManyWaiting, .server, .protocolError, .replyTooLarge, .authentication,
            .connectFailed, .primaryChanged:
            RedisError(.connectionLost, command: command, "the connection to Redis was lost", underlying: self)
        }
    }
}

extension RedisError: CustomStringConvertible {
    public var description: String { command.map { "\($0): \(sentence)" } ?? sentence }
}
