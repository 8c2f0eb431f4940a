// What a subscriber wants and what Redis has confirmed. Redis answers SUBSCRIBE and UNSUBSCRIBE once per channel, in
// the order sent; so a channel is as it was last asked to be when as many answers have come as questions went.

import NIOCore

/// The channels that are wanted, and how far Redis is with them.
struct SubscriptionTable {
    private struct Entry {
        var isWanted: Bool
        /// Whether the last that was sent about it is a subscription.
        var isSent = false
        /// How many answers are still to come.
        var unanswered = 0
        /// Whether it is in `changed`.
        var isQueued = false

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

    /// What to send next: no channel is in both.
    struct Batch: Hashable {
        var subscribe: [String] = []
        var unsubscribe: [String] = []
    }

    /// What an answer of Redis amounts to.
    enum Answer: Hashable {
        /// The channel is subscribed, and wanted.
        case confirmed(String)
        /// More answers are to come, or nobody wants the channel.
        case noted
        /// Redis answers what was not asked.
        case unexpected
    }

    /// How many channels are asked for in one command: a long one holds up everybody else at that Redis.
    static let batchSize = 512
    /// How many answers may be outstanding: Redis buffers them, and drops a client for whom it buffers too much.
    static let window = 8 * batchSize

    private var entries: [ChannelKey: Entry] = [:]
    /// Channels whose entry may differ from what was sent.
    private var changed = CircularBuffer<ChannelKey>()
    /// The sum of what the entries say.
    private(set) var unanswered = 0

    /// How many channels are wanted or still being left.
    var count: Int { entries.count }

    mutating func subscribe(_ channel: String) {
        set(ChannelKey(channel), wanted: true)
    }

    mutating func unsubscribe(_ channel: String) {
        let key = ChannelKey(channel)
        if entries[key] != nil { set(key, wanted: false) }
    }

    func isConfirmed(_ channel: String) -> Bool {
        entries[ChannelKey(channel)]?.isConfirmed ?? false
    }

    /// The wanted channel of this name, if it is one.
    func wanted(_ channel: ByteBuffer) -> String? {
        find(channel).flatMap { entries[$0].value.isWanted ? entries[$0].key.text : nil }
    }

    /// Takes what is to be sent now.
    ///
    /// - Returns: `nil` if everything is sent, or enough for now.
    mutating func nextBatch() -> Batch? {
        var batch = Batch()
        var room = min(Self.batchSize, Self.window - unanswered)
        while room > 0, let key = changed.popFirst() {
            guard let index = entries.index(forKey: key), entries.values[index].takeChange() else {
                forgetIfDone(key)
                continue
            }
            if entries[index].value.isSent {
                batch.subscribe.append(key.text)
            } else {
                batch.unsubscribe.append(key.text)
            }
            unanswered += 1
            room -= 1
        }
        return batch == Batch() ? nil : batch
    }

    /// Redis has answered about a channel.
    mutating func answered(_ channel: ByteBuffer, subscribed: Bool) -> Answer {
        guard let index = find(channel), entries[index].value.unanswered > 0 else { return .unexpected }
        unanswered -= 1
        entries.values[index].unanswered -= 1
        let (key, entry) = entries[index]
        guard entry.unanswered == 0 else { return .noted }
        guard entry.isSent == subscribed else { return .unexpected }
        forgetIfDone(key)
        return entry.isConfirmed ? .confirmed(key.text) : .noted
    }

    /// The connection is gone and its subscriptions with it: all that is wanted is to be sent again.
    mutating func connectionLost() {
        unanswered = 0
        changed.removeAll()
        entries = entries.compactMapValues { $0.isWanted ? Entry(isWanted: true, isQueued: true) : nil }
        changed.append(contentsOf: entries.keys)
    }

    private mutating func set(_ key: ChannelKey, wanted: Bool) {
        if entries[key, default: Entry(isWanted: wanted)].want(wanted) { changed.append(key) }
    }

    private func find(_ channel: ByteBuffer) -> Dictionary<ChannelKey, Entry>.Index? {
        channel.withUnsafeReadableBytes { entries.index(forKey: ChannelKey(borrowing: $0)) }
    }

    private mutating func forgetIfDone(_ key: ChannelKey) {
        if entries[key]?.isDone == true { entries[key] = nil }
    }
}
