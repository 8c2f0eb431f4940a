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
}

extension WorkerNotice {
    private struct Message: Codable {
        var replaced: String?
    }

    /// Reads a payload; `nil` if it is of no known kind.
    public init?(payload: some Sequence<UInt8>) {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(payload)),
            let words = message.replaced?.split(separator: " ", omittingEmptySubsequences: false), words.count == 3,
            let user = try? UserID(String(words[0])), let device = try? DeviceID(String(words[1]))
        else { return nil }
        self = .replaced(user: user, device: device, session: String(words[2]))
    }

    /// The message as JSON.
    public var payload: String {
        let message: Message
        switch self {
        case .replaced(let user, let device, let session):
            message = Message(replaced: "\(user) \(device) \(session)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let data = try? encoder.encode(message) else { preconditionFailure("a string is always JSON") }
        return String(decoding: data, as: UTF8.self)
    }
}
