// Which of several sentinels is believed. After a failover they learn of it one after the other, and one that is cut off
// goes on naming a primary that was. Each failover has a number, the epoch of the configuration that it made, and the
// highest is the newest; so it decides, and not who answers first.

import NIOCore

/// What a sentinel says of the primary.
struct SentinelWord: Hashable, Sendable {
    var primary: RedisLocation.Address
    /// The number of the last failover that it knows of; 0 before the first, and where one may not ask.
    var epoch = 0
    /// How many sentinels it knows beside itself, be they away.
    var others = 0
}

/// What sentinels say now, and what was believed of it.
struct PrimaryChoice {
    /// Sentinels tell each other of a failover every two seconds. Where a majority has older news for so long, and nobody
    /// as new, numbers were begun anew.
    static let renumbering = TimeAmount.seconds(10)

    /// What one goes by, the server having said that it is a primary.
    private(set) var believed: SentinelWord?
    /// By the ids of sentinels.
    private var words: [String: SentinelWord] = [:]
    /// Since when a majority has older news than what is believed, and nobody as new.
    private var outdatedSince: NIODeadline?

    mutating func heard(_ word: SentinelWord, from sentinel: String, at now: NIODeadline) {
        words[sentinel] = word
        compare(at: now)
    }

    /// A sentinel says nothing any more.
    mutating func lost(_ sentinel: String, at now: NIODeadline) {
        words[sentinel] = nil
        compare(at: now)
    }

    /// From now on nothing older is chosen.
    mutating func believe(_ word: SentinelWord) {
        believed = word
        if !isOutdated { outdatedSince = nil }
    }

    /// The newest. Where several primaries have the same number, the one that most name, and of these the one that was
    /// believed. `nil` while nobody says anything.
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

    /// A majority, as it takes for a failover: a few that are cut off know nothing of what the others do, and may have been
    /// made to forget them.
    private var isOutdated: Bool {
        guard let believed else { return false }
        let others = words.values.map(\.others).reduce(believed.others, max)
        return words.count * 2 - 1 > others && words.values.allSatisfy { $0.epoch < believed.epoch }
    }

    private func isRenumbered(at now: NIODeadline) -> Bool {
        outdatedSince.map { now - $0 >= Self.renumbering } ?? false
    }
}
