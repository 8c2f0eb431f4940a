// Every name that Rollcall has in Redis, in one place. A channel carries the name of the key whose change it tells.
// The braces are Redis Cluster's hash tags: what one script touches lies in one slot.

public import RollcallModel

/// The names of keys and channels below one prefix.
public struct KeyNames: Hashable, Sendable {
    /// Stands before every name; it has no braces.
    public let prefix: String
    /// What stands before the user in the names of presence.
    private let presenceHead: String

    /// - Precondition: the prefix has no braces, which Redis Cluster would take for a hash tag.
    public init(prefix: String = "") {
        precondition(!prefix.utf8.contains { $0 == brace.open || $0 == brace.close }, "a prefix has no braces")
        self.prefix = prefix
        presenceHead = prefix + "presence:"
    }

    /// The devices on which the user types in the conversation: a string.
    public func typing(_ conversation: ConversationID, _ user: UserID) -> String {
        typingOfUsers(in: conversation) + user.text
    }

    /// What stands before the user in ``typing(_:_:)``, for scripts that end the typing of many.
    func typingOfUsers(in conversation: ConversationID) -> String { "\(prefix)typing:{\(conversation)}:" }

    /// Who types in the conversation, by expiry: a sorted set.
    public func typing(_ conversation: ConversationID) -> String { "\(prefix)typing:{\(conversation)}" }

    /// A user's devices and what they add up to: a hash.
    public func presence(_ user: UserID) -> String { presenceKey(user).text }

    /// The same, where it is written many times at once.
    func presenceKey(_ user: UserID) -> TaggedKey { TaggedKey(head: presenceHead, tag: user.text) }

    /// Until when a user's tokens were issued that count no more: a string.
    public func revoked(_ user: UserID) -> String { "\(prefix)revoked:{\(user)}" }

    /// The display names of a conversation's members: a hash.
    public func members(_ conversation: ConversationID) -> String { "\(prefix)members:{\(conversation)}" }

    /// All incarnations by the end of their lease: a sorted set.
    public var workers: String { "\(prefix){workers}" }

    /// What an incarnation says of itself: a hash.
    public func worker(_ incarnation: Incarnation) -> String { "\(prefix){workers}:\(incarnation)" }

    /// The sessions for which an incarnation answers: a set.
    public func sessions(_ incarnation: Incarnation) -> String { "\(prefix)worker:{\(incarnation)}:sessions" }

    /// Who sweeps a dead incarnation: a string.
    public func sweeper(_ incarnation: Incarnation) -> String { "\(prefix)worker:{\(incarnation)}:sweeper" }
}

// MARK: Where they lie

extension KeyNames {
    /// The incarnation with other last digits, by which its list of sessions lies in the slot of the leases: while a cluster
    /// has those, it has that, and sessions can be written whose users lie with any primary that is there.
    public func besideLeases(_ incarnation: Incarnation) -> Incarnation {
        // Six digits are a thousand times as many names as there are slots.
        let (count, names) = (6, 1 << 24)
        let head = incarnation.name.dropLast(count)
        let drawn = Int(incarnation.name.suffix(count), radix: 16) ?? 0
        let (slot, begun) = (KeySlot.of(workers), KeySlot.Checksum(of: head.utf8))
        for number in drawn..<drawn + names {
            let tail = (1...count).map { Self.hexadecimal[number >> (4 * (count - $0)) & 15] }
            var checksum = begun
            for digit in tail { checksum.add(digit) }
            if checksum.slot == slot { return Incarnation(name: head + String(decoding: tail, as: UTF8.self)) }
        }
        return incarnation
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)
}

extension KeyNames {
    /// The channel on which changes of this topic are published.
    public func channel(of topic: Topic) -> String {
        switch topic {
        case .typing(let conversation): typing(conversation)
        case .members(let conversation): members(conversation)
        case .presence(let user): presence(user)
        case .worker(let incarnation): "\(prefix)worker:{\(incarnation)}"
        }
    }
}

private let brace = (open: UInt8(ascii: "{"), close: UInt8(ascii: "}"))
