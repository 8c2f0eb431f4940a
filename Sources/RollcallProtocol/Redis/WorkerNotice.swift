// Messages from one worker to another, published on `worker:{INCARNATION}`.

/// A message to one worker. Unknown kinds, from other versions, are ignored.
public enum WorkerNotice: Hashable, Sendable {
    /// A newer session of this device, on any worker, replaced `session`, which is `MS-RANDOM` as in the record.
    case replaced(user: UserID, device: DeviceID, session: ByteString)
    /// An operator wants this session to end and its device to be gone.
    case sentAway(user: UserID, device: DeviceID, session: ByteString)
    /// What apps' servers have said of a user's being in a conversation, up to this number, another worker has ended or replaced.
    case hereEnded(EntryName, upTo: Int64)
    /// A user was erased: what apps' servers say of them ends.
    case erased(UserID)
    /// What a user has decided that others see has this revision now.
    case person(UserID, revision: Int64)
    /// The name of `redis.url` leads to another server now.
    case moved
    /// Whoever has more sessions than this moves the others elsewhere.
    case rebalance(to: Int)
}

extension WorkerNotice {
    /// Reads a payload; `nil` if its kind is unknown.
    public init?(payload: some Sequence<UInt8>) {
        guard let notice = try? WorkerNotice(jsonText: payload) else { return nil }
        self = notice
    }

    /// The message as JSON.
    public var payload: String { String(decoding: jsonText, as: UTF8.self) }

    /// The session that the message is about, if any. Its worker knows it by the second half of `MS-RANDOM`.
    public var session: SessionName? {
        switch self {
        case .replaced(let user, let device, let session), .sentAway(let user, let device, let session):
            guard let random = session.cut(at: "-")?.after else { return nil }
            return SessionName(user: user, device: device, session: SessionID(random: random))
        case .hereEnded, .erased, .person, .moved, .rebalance: return nil
        }
    }
}

extension WorkerNotice: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let replaced: ByteString? = try json.optionalField("replaced")
        let sentAway: ByteString? = try json.optionalField("sent_away")
        let ended: ByteString? = try json.optionalField("here_ended")
        let person: ByteString? = try json.optionalField("person")
        let erased: UserID? = try json.optionalField("erased")
        if let (user, device, session) = replaced.flatMap(Self.words) {
            self = .replaced(user: user, device: device, session: session)
        } else if let (user, device, session) = sentAway.flatMap(Self.words) {
            self = .sentAway(user: user, device: device, session: session)
        } else if let words = ended?.parts(at: " "), words.count == 3, let user = try? UserID(words[0]),
            let conversation = try? ConversationID(words[1]), let sequence = Int64(decimal: words[2])
        {
            self = .hereEnded(EntryName(ofServersFor: user, in: conversation), upTo: sequence)
        } else if let erased {
            self = .erased(erased)
        } else if let words = person?.parts(at: " "), words.count == 2, let user = try? UserID(words[0]),
            let revision = Int64(decimal: words[1])
        {
            self = .person(user, revision: revision)
        } else if try json.optionalField("moved") == true {
            self = .moved
        } else if let most: Int = try json.optionalField("rebalance"), most >= 0 {
            self = .rebalance(to: most)
        } else {
            throw UnexpectedJSON("it is of no known kind")
        }
    }

    private static func words(of text: ByteString) -> (UserID, DeviceID, ByteString)? {
        let words = text.parts(at: " ")
        guard words.count == 3, let user = try? UserID(words[0]), let device = try? DeviceID(words[1])
        else { return nil }
        return (user, device, words[2])
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            switch self {
            case .replaced(let user, let device, let session):
                json.field("replaced", "\(user) \(device) \(session)")
            case .sentAway(let user, let device, let session):
                json.field("sent_away", "\(user) \(device) \(session)")
            case .hereEnded(let entry, let sequence):
                json.field("here_ended", "\(entry.session.user) \(entry.conversation) \(sequence)")
            case .erased(let user): json.field("erased", user)
            case .person(let user, let revision): json.field("person", "\(user) \(revision)")
            case .moved: json.field("moved", true)
            case .rebalance(let most): json.field("rebalance", most)
            }
        }
    }
}
