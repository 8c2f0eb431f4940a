// How a session ends: one table of causes, each with what the client is told and what becomes of its device. The shard and
// the edge close nothing without it. docs/errors.md lists the same codes for authors of clients.

public import RollcallProtocol

/// Why a worker ends a session.
public enum SessionEnd: Hashable, Sendable {
    // The client.
    /// It said goodbye.
    case goodbye
    /// It sent no hello first, a second one, or text that is not a JSON object; or its hello lacks something.
    case badMessage(because: String = "")
    /// It sends faster than anything could be processed: frames that complete no message, or more messages than a session
    /// in this process may have waiting.
    case flood
    /// It reads too slowly for too long.
    case slow
    /// It breaks RFC 6455 or sends what is no text.
    case violation(CloseCode, because: String)

    // Its token.
    case badToken(because: String)
    case tokenExpired(because: String = "")
    /// It is for another user than the client's last session.
    case anotherUser
    /// The token counted until it was revoked; for a new session that was just now, so that a fresh one may be there.
    case revoked(isFresh: Bool = false)

    // Its user.
    /// A newer session of the device exists.
    case replaced
    case sentAway
    case tooManySessions

    // The worker.
    /// It stops. The device connects to the address next, or as it first connected.
    case draining(to: ByteString?)
    /// It cannot welcome the session yet: no seat is free, or the token may count later.
    case busy(GoodbyeReason = .busy, after: Duration = ShardSettings.busyPause, because: String = "")
    /// There was no hello in time.
    case late

    /// What becomes of the device in Redis.
    public enum Device: Hashable, Sendable {
        /// It keeps its presence for `presence.grace`, as after a lost connection, and is back without a trace until then.
        case keepsPresence
        /// It is gone at once.
        case isGone
        /// It belongs to another session, and this one writes nothing more.
        case belongsToAnother
    }

    /// The close code. Codes from 4100 to 4199 tell the client not to come back by itself.
    public var code: CloseCode {
        switch self {
        case .goodbye: .normal
        case .violation(let code, _): code
        case .draining: .draining
        case .slow: .tooSlow
        case .busy: .busy
        case .late: .late
        case .badToken, .revoked(isFresh: false): .badToken
        case .tokenExpired, .revoked(isFresh: true): .tokenExpired
        case .badMessage: .badMessage
        case .flood: .tooManyMessages
        case .replaced: .replaced
        case .tooManySessions: .tooManySessions
        case .sentAway: .sentAway
        case .anotherUser: .anotherUser
        }
    }

    /// The message before the close frame, where the code alone does not say what to do.
    public var farewell: ServerMessage.Goodbye? {
        switch self {
        case .goodbye, .badMessage, .violation, .badToken, .revoked(isFresh: false): nil
        case .flood, .tooManySessions: .init(reason: .limit, reconnect: false)
        case .slow: .init(reason: .slow, reconnect: true)
        case .tokenExpired, .revoked(isFresh: true): .init(reason: .expired, reconnect: true)
        case .replaced: .init(reason: .replaced, reconnect: false)
        case .sentAway: .init(reason: .sentAway, reconnect: false)
        case .anotherUser: .init(reason: .anotherUser, reconnect: false)
        case .draining(let address): .init(reason: .draining, reconnect: true, after: 0, to: address)
        case .busy(let reason, let pause, _): .init(reason: reason, reconnect: true, after: pause.milliseconds)
        case .late: .init(reason: .late, reconnect: true)
        }
    }

    /// The reason in the close frame, for the client's developer; may be empty.
    public var sentence: String {
        switch self {
        case .badMessage(let text), .violation(_, let text), .badToken(let text), .tokenExpired(let text),
            .busy(_, _, let text):
            text
        case .revoked: "revoked: the token was revoked"
        case .anotherUser: "the token is for another user"
        case .goodbye, .flood, .slow, .replaced, .sentAway, .tooManySessions, .draining, .late: ""
        }
    }

    public var device: Device {
        switch self {
        case .goodbye, .revoked, .sentAway: .isGone
        case .replaced: .belongsToAnother
        case .badMessage, .flood, .slow, .violation, .badToken, .tokenExpired, .anotherUser, .tooManySessions,
            .draining, .busy, .late:
            .keepsPresence
        }
    }
}
