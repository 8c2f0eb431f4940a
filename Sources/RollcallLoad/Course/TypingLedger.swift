// Who should be typing in a conversation, and which observers have been shown it. A worker sends states, so a change is
// seen as the difference between two pictures. A change that was undone before an observer was shown it counts as not
// seen, and is not waited for.

/// What a worker's message says about a conversation.
package struct TypingPicture: Hashable, Sendable {
    /// The index of the conversation in the scenario.
    var talk: Int
    /// Who is typing, with one bit for each user who may.
    var typing: UInt64
    /// Whether all typing users are named. A shortened list does not show who started or stopped.
    var isComplete: Bool

    package init(talk: Int, typing: UInt64, isComplete: Bool) {
        (self.talk, self.typing, self.isComplete) = (talk, typing, isComplete)
    }
}

/// The typing in one conversation. Users are identified by their numbers.
package struct TypingLedger {
    /// The maximum number of users whose typing is tracked.
    package static let capacity = UInt64.bitWidth

    private struct Observer {
        /// What the observer was last shown; `nil` if that was incomplete.
        var shown: UInt64?
        /// Whether the observer has been shown the initial state.
        var counts = false
    }

    private let bits: [Int: Int]
    private var typing: UInt64 = 0
    private var started: [Moment?]
    private var stopped: [Moment?]
    private var observers: [Int: Observer] = [:]
    private var counted = 0

    /// - Parameter typists: the users who may type.
    package init(_ typists: some Collection<Int>) {
        let known = typists.prefix(Self.capacity)
        bits = Dictionary(uniqueKeysWithValues: zip(known, 0...))
        started = Array(repeating: nil, count: known.count)
        stopped = started
    }

    /// Returns the bit of a user; `nil` if the user's typing is not tracked.
    package func bit(of user: Int) -> Int? { bits[user] }

    /// Handles that an observer joined, and was shown the current state.
    package mutating func joined(_ observer: Int) {
        guard observers[observer]?.counts != true else { return }
        observers[observer, default: Observer(shown: 0)].counts = true
        counted += 1
    }

    /// Handles that an observer is gone. What they have not seen is no longer expected.
    package mutating func left(_ observer: Int, _ tally: inout Tally) {
        guard let gone = observers.removeValue(forKey: observer), gone.counts else { return }
        counted -= 1
        guard let shown = gone.shown else { return }
        let own: UInt64 = bits[observer].map { 1 << UInt64($0) } ?? 0
        tally.expected -= ((shown ^ typing) & ~own).nonzeroBitCount
    }

    /// Handles the end of a user's connection, which also ends their typing.
    package mutating func gone(_ user: Int, at moment: Moment, _ tally: inout Tally) {
        left(user, &tally)
        changed(user, to: false, due: moment, &tally)
    }

    /// Handles that a user was due to start or stop typing.
    package mutating func changed(_ user: Int, to isTyping: Bool, due: Moment, _ tally: inout Tally) {
        guard let bit = bits[user] else { return }
        let mask: UInt64 = 1 << UInt64(bit)
        guard (typing & mask != 0) != isTyping else { return }
        typing ^= mask
        if isTyping { started[bit] = due } else { stopped[bit] = due }
        tally.changes += 1
        tally.expected += counted - (observers[user]?.counts == true ? 1 : 0)
    }

    /// Handles a picture that an observer was shown.
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
