// Whose turn it is to be pinged. The connections of a loop stand in as many bands as its sweep has beats in a period,
// and each beat takes the next band: everybody's turn comes once a period, evenly spread, without a timer for each.

/// Where a member stands in a ``PingRota``; kept by the member, so that it can leave at once.
struct RotaPlace: Hashable {
    fileprivate(set) var band: Int32
    fileprivate(set) var index: Int32
}

/// Something that takes turns.
protocol RotaMember: AnyObject {
    /// The rota's own; nil while it stands in none.
    var place: RotaPlace? { get set }
}

/// Members in bands that take turns.
struct PingRota<Member: RotaMember> {
    private var bands: [[Member]]
    /// The band that the next member joins, and the one whose turn comes next.
    private var joining = 0
    private var coming = 0

    init(bands: Int) {
        self.bands = Array(repeating: [], count: max(1, bands))
    }

    /// Everybody, in no order.
    var members: some Sequence<Member> { bands.joined() }

    mutating func join(_ member: Member) {
        member.place = RotaPlace(band: Int32(joining), index: Int32(bands[joining].count))
        bands[joining].append(member)
        joining = (joining + 1) % bands.count
    }

    /// Takes a member out; the last of its band moves to its place.
    mutating func leave(_ member: Member) {
        guard let place = member.place else { return }
        member.place = nil
        let last = bands[Int(place.band)].removeLast()
        guard last !== member else { return }
        bands[Int(place.band)][Int(place.index)] = last
        last.place = place
    }

    /// Those whose turn it is now.
    mutating func turn() -> [Member] {
        defer { coming = (coming + 1) % bands.count }
        return bands[coming]
    }
}
