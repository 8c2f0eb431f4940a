// Who types in a conversation as was due, and who of those who look on has been shown it. A worker sends states, so a
// change is seen where two pictures differ; what was over before somebody was shown it counts as not seen, and nobody is
// asked to wait for it.

/// What a worker's message says of a conversation.
package struct TypingPicture: Hashable, Sendable {
    /// Which conversation of the scenario's.
    var talk: Int
    /// Who types, a bit for each of those who may.
    var typing: UInt64
    /// Whether all of them are named: from a list that is cut short nobody can tell who has come or gone.
    var isComplete: Bool

    package init(talk: Int, typing: UInt64, isComplete: Bool) {
        (self.talk, self.typing, self.isComplete) = (talk, typing, isComplete)
    }
}

/// The typing in one conversation. Users are known by their numbers.
package struct TypingLedger {
    /// At most so many people are told apart.
    package static let capacity = UInt64.bitWidth

    private struct Observer {
        /// What they were shown last; `nil` if that was cut short.
        var shown: UInt64?
        /// Whether they have been shown the beginning.
        var counts = false
    }

    private let bits: [Int: Int]
    private var typing: UInt64 = 0
    private var started: [Moment?]
    private var stopped: [Moment?]
    private var observers: [Int: Observer] = [:]
    private var counted = 0

    /// - Parameter typists: those who may type.
    package init(_ typists: some Collection<Int>) {
        let known = typists.prefix(Self.capacity)
        bits = Dictionary(uniqueKeysWithValues: zip(known, 0...))
        started = Array(repeating: nil, count: known.count)
        stopped = started
    }

    /// The bit of a user; `nil` for one who is not told apart.
    package func bit(of user: Int) -> Int? { bits[user] }

    /// Somebody has joined, and was shown how things stand.
    package mutating func joined(_ observer: Int) {
        guard observers[observer]?.counts != true else { return }
        observers[observer, default: Observer(shown: 0)].counts = true
        counted += 1
    }

    /// Somebody is not there any more: what they were still to be shown is expected no longer.
    package mutating func left(_ observer: Int, _ tally: inout Tally) {
        guard let gone = observers.removeValue(forKey: observer), gone.counts else { return }
        counted -= 1
        guard let shown = gone.shown else { return }
        let own: UInt64 = bits[observer].map { 1 << UInt64($0) } ?? 0
        tally.expected -= ((shown ^ typing) & ~own).nonzeroBitCount
    }

    /// Somebody's connection has ended, and with it their typing.
    package mutating func gone(_ user: Int, at moment: Moment, _ tally: inout Tally) {
        left(user, &tally)
        changed(user, to: false, due: moment, &tally)
    }

    /// Somebody was due to start typing, or to stop.
    package mutating func changed(_ user: Int, to isTyping: Bool, due: Moment, _ tally: inout Tally) {
        guard let bit = bits[user] else { return }
        let mask: UInt64 = 1 << UInt64(bit)
        guard (typing & mask != 0) != isTyping else { return }
        typing ^= mask
        if isTyping { started[bit] = due } else { stopped[bit] = due }
        tally.changes += 1
        tally.expected += counted - (observers[user]?.counts == true ? 1 : 0)
    }

    /// Somebody was shown a picture.
    package mutating func heard(_ observer: Int, _ picture: TypingPicture, at moment: Moment, _ tally: inout Tally) {
        let before = observers[observer] ?? Observer()
        observers[observer] = Observer(shown: picture.isComplete ? picture.typing : nil, counts: before.counts)
        guard before.counts, picture.isComplete, let shown = before.shown else { return }
        var news = shown ^ picture.typing
        while news != 0 {
            let bit = news.trailingZeroBitCount
            news &= news - 1
            guard let due = picture.typing >> UInt64(bit) & 1 == 1 ? started[bit] : stopped[bit] else { continue }
            tally.seen += 1
            tally.typing.record(due.duration(to: moment))
        }
    }
}
