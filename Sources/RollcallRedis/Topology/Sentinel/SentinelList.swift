// The known sentinels: those in the URL, and those that they report. A deployment that has replaced all of its
// sentinels one by one is therefore still found. A URL may contain host names while sentinels report addresses; their
// ids show which are the same.

/// A sentinel as another one reports it.
struct SentinelPeer: Hashable, Sendable {
    var id: String
    var address: RedisLocation.Address
}

/// The sentinels of a deployment.
struct SentinelList: Hashable, Sendable {
    typealias Address = RedisLocation.Address

    /// The most reported sentinels to remember, more than any deployment has. It is limited because each of them
    /// receives the password.
    static let most = 32

    private let given: [Address]
    /// The ids of the sentinels in the URL.
    private var ids: [Address: String] = [:]
    /// The reports of each sentinel.
    private var told: [Address: [SentinelPeer]] = [:]
    /// The reported sentinels.
    private var learnt: [SentinelPeer] = []

    init(_ given: [Address]) {
        precondition(!given.isEmpty, "somebody can be asked")
        self.given = given
    }

    /// All sentinels to ask, without duplicates, those in the URL first.
    var all: [Address] {
        let same = Set(ids.values)
        return given + learnt.filter { !same.contains($0.id) }.map(\.address)
    }

    /// Stores a sentinel's id.
    mutating func identified(_ sentinel: Address, as id: String) {
        if given.contains(sentinel) { ids[sentinel] = id }
    }

    /// Stores the other sentinels that a sentinel reports.
    ///
    /// - Parameter present: the sentinels that answer. A sentinel that is down, and that no answering sentinel reports,
    ///   is removed only now and not when it became silent: all sentinels may be down for a moment.
    mutating func learn(_ others: [SentinelPeer], from teacher: Address, present: Set<Address>) {
        told[teacher] = others
        told = told.filter { $0.key == teacher || present.contains($0.key) }
        var seen = Set(given)
        let known = learnt.filter { present.contains($0.address) } + all.compactMap { told[$0] }.joined()
        learnt = Array(known.filter { seen.insert($0.address).inserted }.prefix(Self.most))
    }
}
