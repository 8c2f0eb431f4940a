// What a subscriber wants and what Redis has confirmed. Redis answers SUBSCRIBE and UNSUBSCRIBE once per channel, in
// the order sent; so a channel is as it was last asked to be when as many answers have come as questions went.

import NIOCore
import RollcallModel

/// The channels that are wanted, what they are about, and how far Redis is with them.
struct SubscriptionTable<Subject> {
    private struct Entry {
        let subject: Subject
        var isWanted: Bool
        /// Whether the last that was sent about it is a subscription.
        var isSent = false
        /// Whether it is in `changed`.
        var isQueued = false
        /// How many answers are still to come.
        var unanswered: Int32 = 0

        var isConfirmed: Bool { isWanted && isSent && unanswered == 0 }
        var isDone: Bool { !isWanted && !isSent && unanswered == 0 && !isQueued }

        /// - Returns: whether the entry is to be put into `changed`.
        mutating func want(_ wanted: Bool) -> Bool {
            isWanted = wanted
            guard isWanted != isSent, !isQueued else { return false }
            isQueued = true
            return true
        }

        /// The entry has been taken out of `changed`.
        ///
        /// - Returns: whether there is something to send after all.
        mutating func takeChange() -> Bool {
            isQueued = false
            guard isWanted != isSent else { return false }
            isSent = isWanted
            unanswered += 1
            return true
        }
    }

    /// What an answer of Redis amounts to.
    enum Answer {
        /// The channel is subscribed, and wanted.
        case confirmed(Subject)
        /// More answers are to come, or nobody wants the channel.
        case noted
        /// Redis answers what was not asked.
        case unexpected
    }

    private var entries: [BytesKey: Entry] = [:]
    /// Channels whose entry may differ from what was sent.
    private var changed = CircularBuffer<BytesKey>()
    /// Channels that are wanted and whose subscription was refused, or ended by Redis.
    private var astray: [BytesKey] = []
    /// The sum of what the entries say.
    private(set) var unanswered = 0

    /// How many channels are wanted or still being left.
    var count: Int { entries.count }

    /// - Returns: whether it is confirmed already.
    mutating func subscribe(_ channel: String, as subject: Subject) -> Bool {
        let key = BytesKey(channel)
        guard let index = entries.index(forKey: key) else {
            entries[key] = Entry(subject: subject, isWanted: true, isQueued: true)
            changed.append(key)
            return false
        }
        set(index, wanted: true)
        return entries.values[index].isConfirmed
    }

    mutating func unsubscribe(_ channel: String) {
        if let index = entries.index(forKey: BytesKey(channel)) { set(index, wanted: false) }
    }

    func isConfirmed(_ channel: String) -> Bool {
        entries[BytesKey(channel)]?.isConfirmed ?? false
    }

    /// What the channel of this name is about, if it is wanted.
    func wanted(_ channel: ByteBuffer) -> Subject? {
        find(channel).flatMap { entries.values[$0].isWanted ? entries.values[$0].subject : nil }
    }

    /// Takes what is to be sent now.
    ///
    /// - Returns: `nil` if everything is sent, or enough for now.
    mutating func nextBatch() -> SubscriptionBatch? {
        var batch = SubscriptionBatch()
        var room = min(SubscriptionBatch.size, SubscriptionBatch.window - unanswered)
        while room > 0, let key = changed.popFirst() {
            guard let index = entries.index(forKey: key) else { continue }
            guard entries.values[index].takeChange() else {
                if entries.values[index].isDone { entries.remove(at: index) }
                continue
            }
            if entries.values[index].isSent {
                batch.subscribe.append(key.text)
            } else {
                batch.unsubscribe.append(key.text)
            }
            unanswered += 1
            room -= 1
        }
        return batch == SubscriptionBatch() ? nil : batch
    }

    /// Redis has answered about a channel.
    mutating func answered(_ channel: ByteBuffer, subscribed: Bool) -> Answer {
        guard let index = find(channel), entries[index].value.unanswered > 0 else { return .unexpected }
        unanswered -= 1
        entries.values[index].unanswered -= 1
        let entry = entries.values[index]
        guard entry.unanswered == 0 else { return .noted }
        guard entry.isSent == subscribed else { return .unexpected }
        if entry.isDone { entries.remove(at: index) }
        return entry.isConfirmed ? .confirmed(entry.subject) : .noted
    }

    /// The connection is gone and its subscriptions with it: all that is wanted is to be sent again.
    mutating func connectionLost() {
        unanswered = 0
        astray = []
        changed.removeAll()
        entries = entries.compactMapValues {
            $0.isWanted ? Entry(subject: $0.subject, isWanted: true, isQueued: true) : nil
        }
        changed.append(contentsOf: entries.keys)
    }

    private mutating func set(_ index: Dictionary<BytesKey, Entry>.Index, wanted: Bool) {
        if entries.values[index].want(wanted) { changed.append(entries.keys[index]) }
        if entries.values[index].isDone { entries.remove(at: index) }
    }

    private func find(_ channel: ByteBuffer) -> Dictionary<BytesKey, Entry>.Index? {
        channel.withUnsafeReadableBytes { entries.index(forKey: BytesKey(borrowing: $0)) }
    }
}

// In a cluster a channel lies in a slot, and who has the slot changes: a node answers about each channel alone, may refuse to,
// and ends a subscription when the slot leaves it.
extension SubscriptionTable {
    /// What all wanted channels are about.
    var subjects: [Subject] { entries.values.filter(\.isWanted).map(\.subject) }

    /// Whether there are channels to be asked for again.
    var hasAstray: Bool { !astray.isEmpty }

    /// Redis answered with an error what was asked last about a channel, and not answered yet.
    ///
    /// - Returns: what it is about, if it is wanted; it is asked for no more before ``askAgain()``.
    mutating func refused(_ channel: BytesKey) -> Subject? {
        guard let index = entries.index(forKey: channel), entries.values[index].unanswered > 0 else { return nil }
        unanswered -= 1
        entries.values[index].unanswered -= 1
        return subscriptionEnded(index)
    }

    /// Redis ended a subscription by itself.
    ///
    /// - Returns: what it is about, if it is wanted; it is asked for no more before ``askAgain()``.
    mutating func ended(_ channel: ByteBuffer) -> Subject? {
        find(channel).flatMap { subscriptionEnded($0) }
    }

    /// It is time to ask again for what was refused or ended, or for the first few of these.
    mutating func askAgain(atMost most: Int = .max) {
        for channel in astray.prefix(most) {
            if let index = entries.index(forKey: channel), entries.values[index].isWanted { set(index, wanted: true) }
        }
        astray.removeFirst(min(most, astray.count))
    }

    /// Wants no more what lies elsewhere. What is subscribed is not left: the node ends it itself, or has, and an answer
    /// that crossed with that news could not be told from it.
    ///
    /// - Returns: the channels, to be wanted there.
    mutating func give(where isElsewhere: (String) -> Bool) -> [(channel: String, subject: Subject)] {
        let leaving = entries.filter { $0.value.isWanted && isElsewhere($0.key.text) }
        for (channel, entry) in leaving {
            if entry.unanswered == 0 { entries[channel] = nil } else { unsubscribe(channel.text) }
        }
        return leaving.map { ($0.key.text, $0.value.subject) }
    }

    private mutating func subscriptionEnded(_ index: Dictionary<BytesKey, Entry>.Index) -> Subject? {
        guard entries.values[index].unanswered == 0 else { return nil }
        entries.values[index].isSent = false
        guard entries.values[index].isWanted else {
            if entries.values[index].isDone { entries.remove(at: index) }
            return nil
        }
        astray.append(entries.keys[index])
        return entries.values[index].subject
    }
}

/// What to send next: no channel is in both.
struct SubscriptionBatch: Hashable {
    var subscribe: [String] = []
    var unsubscribe: [String] = []

    /// How many channels are asked for in one command: a long one holds up everybody else at that Redis.
    static let size = 512
    /// How many answers may be outstanding: Redis buffers them, and drops a client for whom it buffers too much.
    static let window = 8 * size
}
