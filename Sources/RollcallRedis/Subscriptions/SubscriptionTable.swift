// The wanted channels of a subscriber, and what Redis has confirmed. Redis replies to SUBSCRIBE and UNSUBSCRIBE once
// per channel, in order. A channel therefore has the state last requested once all its replies have arrived.

import NIOCore
import RollcallModel

/// The wanted channels, their subjects, and the state of their subscriptions.
struct SubscriptionTable<Subject> {
    private struct Entry {
        let subject: Subject
        var isWanted: Bool
        /// Whether the last command sent about it was a subscription.
        var isSent = false
        /// Whether it is in `changed`.
        var isQueued = false
        /// The number of pending replies.
        var unanswered: Int32 = 0

        var isConfirmed: Bool { isWanted && isSent && unanswered == 0 }
        var isDone: Bool { !isWanted && !isSent && unanswered == 0 && !isQueued }

        /// - Returns: whether to add the entry to `changed`.
        mutating func want(_ wanted: Bool) -> Bool {
            isWanted = wanted
            guard isWanted != isSent, !isQueued else { return false }
            isQueued = true
            return true
        }

        /// Handles the removal of the entry from `changed`.
        ///
        /// - Returns: whether there is still something to send.
        mutating func takeChange() -> Bool {
            isQueued = false
            guard isWanted != isSent else { return false }
            isSent = isWanted
            unanswered += 1
            return true
        }
    }

    /// The meaning of a reply.
    enum Answer {
        /// The channel is subscribed and wanted.
        case confirmed(Subject)
        /// More replies are pending, or the channel is not wanted.
        case noted
        /// Redis replied without a command.
        case unexpected
    }

    private var entries: [BytesKey: Entry] = [:]
    /// Channels whose entry may differ from what was sent.
    private var changed = CircularBuffer<BytesKey>()
    /// Wanted channels whose subscription Redis refused or ended.
    private var astray: [BytesKey] = []
    /// The sum of all entries' pending replies.
    private(set) var unanswered = 0

    /// The number of channels that are wanted or still being unsubscribed.
    var count: Int { entries.count }

    /// - Returns: whether the channel is already confirmed.
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

    /// Returns the subject of a channel, if it is wanted.
    func wanted(_ channel: ByteBuffer) -> Subject? {
        find(channel).flatMap { entries.values[$0].isWanted ? entries.values[$0].subject : nil }
    }

    /// Removes and returns the channels to send now.
    ///
    /// - Returns: `nil` if there is nothing to send, or if enough replies are pending.
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

    /// Handles a reply about a channel.
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

    /// Handles a lost connection, and with it all subscriptions: all wanted channels are to be sent again.
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

// On a cluster, a channel belongs to a slot, and slots move between nodes. A node replies about each channel
// separately, may refuse it, and ends a subscription when the slot moves away.
extension SubscriptionTable {
    /// The subjects of all wanted channels.
    var subjects: [Subject] { entries.values.filter(\.isWanted).map(\.subject) }

    /// Whether there are channels to retry.
    var hasAstray: Bool { !astray.isEmpty }

    /// Handles an error reply to the last pending command about a channel.
    ///
    /// - Returns: the channel's subject, if it is wanted. It is not retried before ``askAgain(atMost:)``.
    mutating func refused(_ channel: BytesKey) -> Subject? {
        guard let index = entries.index(forKey: channel), entries.values[index].unanswered > 0 else { return nil }
        unanswered -= 1
        entries.values[index].unanswered -= 1
        return subscriptionEnded(index)
    }

    /// Handles a subscription that Redis ended.
    ///
    /// - Returns: the channel's subject, if it is wanted. It is not retried before ``askAgain(atMost:)``.
    mutating func ended(_ channel: ByteBuffer) -> Subject? {
        find(channel).flatMap { subscriptionEnded($0) }
    }

    /// Schedules the refused or ended channels to be sent again, or the first few of them.
    mutating func askAgain(atMost most: Int = .max) {
        for channel in astray.prefix(most) {
            if let index = entries.index(forKey: channel), entries.values[index].isWanted { set(index, wanted: true) }
        }
        astray.removeFirst(min(most, astray.count))
    }

    /// Removes the channels that belong to other servers. Confirmed ones are not unsubscribed: the node ends them
    /// itself, and its message could not be told apart from a reply.
    ///
    /// - Returns: the removed channels, to subscribe there.
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

/// The next channels to send; no channel is in both lists.
struct SubscriptionBatch: Hashable {
    var subscribe: [String] = []
    var unsubscribe: [String] = []

    /// The most channels in one command: a long command delays all other clients of that Redis.
    static let size = 512
    /// The most pending replies. Redis buffers replies, and disconnects a client whose buffer grows too large.
    static let window = 8 * size
}
