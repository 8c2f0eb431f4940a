// Which sentinels there are. Those of the URL are asked, and those that they know of, so that a deployment that has
// replaced all of its sentinels, one by one, is still found. A URL may name a host where sentinels tell addresses: by their
// ids it is seen that they are the same.

/// A sentinel as another knows it.
struct SentinelPeer: Hashable, Sendable {
    var id: String
    var address: RedisLocation.Address
}

/// The sentinels of a deployment.
struct SentinelList: Hashable, Sendable {
    typealias Address = RedisLocation.Address

    /// More than anybody has: so much is remembered of what sentinels tell. They are shown our password.
    static let most = 32

    private let given: [Address]
    /// What those of the URL call themselves.
    private var ids: [Address: String] = [:]
    /// Who told of whom.
    private var told: [Address: [SentinelPeer]] = [:]
    /// Of whom was told.
    private var learnt: [SentinelPeer] = []

    init(_ given: [Address]) {
        precondition(!given.isEmpty, "somebody can be asked")
        self.given = given
    }

    /// Those that are asked, each once, those of the URL first.
    var all: [Address] {
        let same = Set(ids.values)
        return given + learnt.filter { !same.contains($0.id) }.map(\.address)
    }

    /// A sentinel calls itself so.
    mutating func identified(_ sentinel: Address, as id: String) {
        if given.contains(sentinel) { ids[sentinel] = id }
    }

    /// A sentinel knows these others.
    ///
    /// - Parameter present: those that answer. Who is away and told of by nobody who answers is forgotten now, and not
    ///   when they fell silent: all may be away for a moment.
    mutating func learn(_ others: [SentinelPeer], from teacher: Address, present: Set<Address>) {
        told[teacher] = others
        told = told.filter { $0.key == teacher || present.contains($0.key) }
        var seen = Set(given)
        let known = learnt.filter { present.contains($0.address) } + all.compactMap { told[$0] }.joined()
        learnt = Array(known.filter { seen.insert($0.address).inserted }.prefix(Self.most))
    }
}
