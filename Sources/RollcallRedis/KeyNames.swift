// All names that Rollcall uses in Redis. A channel has the name of the key whose changes it carries. The braces are
// Redis Cluster's hash tags: all keys of one script are in one slot.

public import RollcallProtocol

/// The names of keys and channels under one prefix.
public struct KeyNames: Hashable, Sendable {
    /// The prefix of every name, without braces.
    public let prefix: String
    /// The part of presence keys before the user.
    private let presenceHead: String
    /// The same of keys of persons.
    private let personHead: String

    /// - Precondition: the prefix has no braces, which Redis Cluster would read as a hash tag.
    public init(prefix: String = "") {
        precondition(!prefix.utf8.contains { $0 == brace.open || $0 == brace.close }, "a prefix has no braces")
        self.prefix = prefix
        (presenceHead, personHead) = (prefix + "presence:", prefix + "person:")
    }

    /// The devices on which the user types in the conversation, what each does, and the user's name: a string.
    public func typing(_ conversation: ConversationID, _ user: UserID) -> String {
        typingOfUsers(in: conversation) + user.text
    }

    /// The part of ``typing(_:_:)`` before the user, for scripts that read or end the typing of several users.
    func typingOfUsers(in conversation: ConversationID) -> String { "\(prefix)typing:{\(conversation)}:" }

    /// The typists of the conversation, scored by expiry: a sorted set.
    public func typing(_ conversation: ConversationID) -> String { "\(prefix)typing:{\(conversation)}" }

    /// A user's devices and the presence derived from them: a hash.
    public func presence(_ user: UserID) -> String { presenceKey(user).text }

    /// The same, for bulk encoding.
    func presenceKey(_ user: UserID) -> TaggedKey { TaggedKey(head: presenceHead, tag: user.text) }

    /// What a user has decided that others see: a hash.
    public func person(_ user: UserID) -> String { personKey(user).text }

    /// The same, for bulk encoding.
    func personKey(_ user: UserID) -> TaggedKey { TaggedKey(head: personHead, tag: user.text) }

    /// The time before which a user's tokens were revoked: a string.
    public func revoked(_ user: UserID) -> String { "\(prefix)revoked:{\(user)}" }

    /// The display names of a conversation's members: a hash.
    public func members(_ conversation: ConversationID) -> String { "\(prefix)members:{\(conversation)}" }

    /// The users whom an app's server admitted to the conversation, scored by the end of that, and marks of drops: a sorted set.
    public func access(_ conversation: ConversationID) -> String { "\(prefix)access:{\(conversation)}" }

    /// Whom the server named as the conversation's people: a string.
    public func accessPeople(_ conversation: ConversationID) -> String { "\(access(conversation)):people" }

    /// Of each user who is here in the conversation, the lines of the sessions that have entered: a hash.
    public func here(_ conversation: ConversationID) -> String { "\(prefix)here:{\(conversation)}" }

    /// These users, scored by when they came: a sorted set.
    public func hereSince(_ conversation: ConversationID) -> String { "\(here(conversation)):since" }

    /// All incarnations, scored by the end of their lease: a sorted set.
    public var workers: String { "\(prefix){workers}" }

    /// Data of an incarnation, such as its edge address and last heartbeat: a hash.
    public func worker(_ incarnation: Incarnation) -> String { "\(prefix){workers}:\(incarnation)" }

    /// The sessions that an incarnation holds: a set.
    public func sessions(_ incarnation: Incarnation) -> String { "\(prefix)worker:{\(incarnation)}:sessions" }

    /// What the sessions of an incarnation have entered: a set.
    public func entries(_ incarnation: Incarnation) -> String { "\(prefix)worker:{\(incarnation)}:here" }

    /// Who came and who went: a stream.
    public var events: String { "\(prefix)events" }

    /// What the writers and the deliverer of the events know of them: a hash.
    public var eventsState: String { "\(prefix)events:state" }

    /// The claim of the incarnation that sweeps a dead one: a string.
    public func sweeper(_ incarnation: Incarnation) -> String { "\(prefix)worker:{\(incarnation)}:sweeper" }
}

// MARK: Slots

extension KeyNames {
    /// Returns the incarnation with other last digits, chosen so that its session list has the slot of the leases. As
    /// long as a cluster can serve the leases, it can then serve the list too, and sessions can be written whose users
    /// are on any available primary. See docs/decisions/0011-a-primary-of-several.md.
    public func besideLeases(_ incarnation: Incarnation) -> Incarnation {
        // Six digits give 1,000 times as many names as there are slots.
        let (count, names) = (6, 1 << 24)
        let head = Array(incarnation.name.utf8.dropLast(count))
        let drawn = Int(String(decoding: incarnation.name.utf8.suffix(count), as: UTF8.self), radix: 16) ?? 0
        let (slot, begun) = (KeySlot.of(workers), KeySlot.Checksum(of: head))
        for number in drawn..<drawn + names {
            let tail = (1...count).map { Self.hexadecimal[number >> (4 * (count - $0)) & 15] }
            var checksum = begun
            for digit in tail { checksum.add(digit) }
            if checksum.slot == slot { return Incarnation(name: ByteString(decoding: head + tail)) }
        }
        return incarnation
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)
}

extension KeyNames {
    /// The channel for changes of this topic.
    public func channel(of topic: Topic) -> String {
        switch topic {
        case .typing(let conversation): typing(conversation)
        case .members(let conversation): members(conversation)
        case .presence(let user): presence(user)
        case .here(let conversation): here(conversation)
        case .worker(let incarnation): "\(prefix)worker:{\(incarnation)}"
        }
    }
}

private let brace = (open: UInt8(ascii: "{"), close: UInt8(ascii: "}"))
