// Chooses which of several sentinels to believe. Sentinels learn of a failover one after the other, and one that is cut
// off keeps naming the old primary. Each failover has a number, the configuration epoch. The highest epoch wins, and
// not the fastest reply.

import NIOCore

/// What a sentinel reports about the primary.
struct SentinelWord: Hashable, Sendable {
    var primary: RedisLocation.Address
    /// The epoch of the last failover it knows of; 0 before the first, or without the right to read it.
    var epoch = 0
    /// The number of other sentinels it knows, including those that are down.
    var others = 0
}

/// What the sentinels report now, and the report that was last believed.
struct PrimaryChoice {
    /// Sentinels inform each other of a failover every two seconds. If a majority reports older epochs for this long,
    /// and no sentinel reports the newest, the epochs were reset.
    static let renumbering = TimeAmount.seconds(10)

    /// The report in use, confirmed by the server itself.
    private(set) var believed: SentinelWord?
    /// The reports by sentinel id.
    private var words: [String: SentinelWord] = [:]
    /// Since when a majority has reported older epochs than the believed one, and no sentinel has reported that one.
    private var outdatedSince: NIODeadline?

    mutating func heard(_ word: SentinelWord, from sentinel: String, at now: NIODeadline) {
        words[sentinel] = word
        compare(at: now)
    }

    /// Removes the report of a sentinel that no longer answers.
    mutating func lost(_ sentinel: String, at now: NIODeadline) {
        words[sentinel] = nil
        compare(at: now)
    }

    /// Accepts a report. From now on, no older one is chosen.
    mutating func believe(_ word: SentinelWord) {
        believed = word
        if !isOutdated { outdatedSince = nil }
    }

    /// Returns the newest report. If several primaries have the same epoch, most reports win, and among these the
    /// primary that was believed. `nil` if there are no reports.
    func choice(at now: NIODeadline) -> SentinelWord? {
        guard let newest = words.values.map(\.epoch).max() else { return nil }
        if let believed, newest < believed.epoch, !isRenumbered(at: now) { return believed }
        let candidates = words.values.filter { $0.epoch == newest }
        let voices = Dictionary(grouping: candidates, by: \.primary)
        func rank(_ word: SentinelWord) -> (Int, Int, String) {
            (voices[word.primary]?.count ?? 0, word.primary == believed?.primary ? 1 : 0, "\(word.primary)")
        }
        return candidates.max { rank($0) < rank($1) }
    }

    private mutating func compare(at now: NIODeadline) {
        outdatedSince = isOutdated ? outdatedSince ?? now : nil
    }

    /// Whether a majority, as required for a failover, reports older epochs. A minority that is cut off does not know
    /// of later failovers, and its epochs may have been reset.
    private var isOutdated: Bool {
        guard let believed else { return false }
        let others = words.values.map(\.others).reduce(believed.others, max)
        return words.count * 2 - 1 > others && words.values.allSatisfy { $0.epoch < believed.epoch }
    }

    private func isRenumbered(at now: NIODeadline) -> Bool {
        outdatedSince.map { now - $0 >= Self.renumbering } ?? false
    }
}
