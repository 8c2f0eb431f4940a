// Schedules pings. The connections of a loop are divided into as many bands as it has checks per ping interval.
// Each check pings the next band, so every connection gets one ping per interval, evenly spread, without its own timer.

/// A member's position in a ``PingRota``. The member stores it, so that it can leave at once.
struct RotaPlace: Hashable {
    fileprivate(set) var band: Int32
    fileprivate(set) var index: Int32
}

/// A member of a rota.
protocol RotaMember: AnyObject {
    /// Managed by the rota; `nil` outside of it.
    var place: RotaPlace? { get set }
}

/// Members in bands that take turns.
struct PingRota<Member: RotaMember> {
    private var bands: [[Member]]
    /// The band that the next member joins, and the band whose turn is next.
    private var joining = 0
    private var coming = 0

    init(bands: Int) {
        self.bands = Array(repeating: [], count: max(1, bands))
    }

    /// All members, in no particular order.
    var members: some Sequence<Member> { bands.joined() }

    mutating func join(_ member: Member) {
        member.place = RotaPlace(band: Int32(joining), index: Int32(bands[joining].count))
        bands[joining].append(member)
        joining = (joining + 1) % bands.count
    }

    /// Removes a member. The last one of its band moves to its position.
    mutating func leave(_ member: Member) {
        guard let place = member.place else { return }
        member.place = nil
        let last = bands[Int(place.band)].removeLast()
        guard last !== member else { return }
        bands[Int(place.band)][Int(place.index)] = last
        last.place = place
    }

    /// The members whose turn it is now.
    mutating func turn() -> [Member] {
        defer { coming = (coming + 1) % bands.count }
        return bands[coming]
    }
}
