// What one worker tells another, on `worker:{INCARNATION}`.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message to one worker. Kinds that a reader does not know are other versions', and ignored.
public enum WorkerNotice: Hashable, Sendable {
    /// A newer session of this device, at another worker or this one, took the device over from `session`, which is
    /// `MS-RANDOM` as in the record.
    case replaced(user: UserID, device: DeviceID, session: String)
    /// An operator wants this session ended, and its device gone.
    case sentAway(user: UserID, device: DeviceID, session: String)
}

extension WorkerNotice {
    private struct Message: Codable {
        var replaced: String?
        var sentAway: String?

        enum CodingKeys: String, CodingKey {
            case replaced
            case sentAway = "sent_away"
        }
    }

    /// Reads a payload; `nil` if it is of no known kind.
    public init?(payload: some Sequence<UInt8>) {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(payload)) else { return nil }
        if let (user, device, session) = message.replaced.flatMap(Self.words) {
            self = .replaced(user: user, device: device, session: session)
        } else if let (user, device, session) = message.sentAway.flatMap(Self.words) {
            self = .sentAway(user: user, device: device, session: session)
        } else {
            return nil
        }
    }

    private static func words(of text: String) -> (UserID, DeviceID, String)? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let user = try? UserID(String(words[0])), let device = try? DeviceID(String(words[1]))
        else { return nil }
        return (user, device, String(words[2]))
    }

    /// The message as JSON.
    public var payload: String {
        let message: Message
        switch self {
        case .replaced(let user, let device, let session):
            message = Message(replaced: "\(user) \(device) \(session)")
        case .sentAway(let user, let device, let session):
            message = Message(sentAway: "\(user) \(device) \(session)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let data = try? encoder.encode(message) else { preconditionFailure("a string is always JSON") }
        return String(decoding: data, as: UTF8.self)
    }

    /// The session that it is about. Its worker knows it by the second half of `MS-RANDOM`.
    public var session: SessionName? {
        switch self {
        case .replaced(let user, let device, let session), .sentAway(let user, let device, let session):
            guard let hyphen = session.firstIndex(of: "-") else { return nil }
            let random = SessionID(random: String(session[session.index(after: hyphen)...]))
            return SessionName(user: user, device: device, session: random)
        }
    }
}
