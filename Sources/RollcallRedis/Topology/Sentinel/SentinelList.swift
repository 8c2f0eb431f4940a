// Which sentinels there are, and whose turn it is. Those of the URL are where one begins, each time; the others are learnt
// from them, so that a deployment that has replaced all of its sentinels, one by one, is still found. They come last, for
// somebody else has named them, and they are shown our password.

/// The sentinels of a deployment, in a ring.
struct SentinelList: Hashable, Sendable {
    typealias Address = RedisLocation.Address

    /// More than anybody has: so much is remembered of what sentinels tell.
    static let most = 32

    private let given: [Address]
    private var learnt: [Address] = []
    private var index: Int?
    /// Whether the search for one that is of use begins anew with the next turn.
    private var beginsAnew = false

    init(_ given: [Address]) {
        precondition(!given.isEmpty, "somebody can be asked")
        self.given = given
    }

    var all: [Address] { given + learnt }

    /// Whose turn it is; `nil` before the first.
    var current: Address? { index.map { all[$0] } }

    /// The turn goes on, to the first again after the last.
    ///
    /// - Returns: whose it is now.
    mutating func advance() -> Address {
        let last = index ?? -1
        let next = beginsAnew && last != 0 ? 0 : (last + 1) % all.count
        (index, beginsAnew) = (next, false)
        return all[next]
    }

    /// The one whose turn it is was of use. After it one begins at the first again, unless it was the first.
    mutating func proved() {
        beginsAnew = true
    }

    /// The one whose turn it is knows these others. What was learnt before is forgotten, but for whose turn it is.
    mutating func learn(_ others: [Address]) {
        let current = current
        var known: [Address] = []
        for other in [current].compactMap({ $0 }) + others
        where !given.contains(other) && !known.contains(other) && known.count < Self.most { known.append(other) }
        learnt = known
        index = current.flatMap(all.firstIndex)
    }
}
