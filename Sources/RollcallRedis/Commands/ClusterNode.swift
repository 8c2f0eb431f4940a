import NIOCore

/// A node of a cluster, and what waits until it is known whether it can be reached.
final class ClusterNode {
    let address: RedisLocation.Address
    let connection: CommandConnection
    /// Whether commands were sent there on another's word, since the map was last heard.
    var wasAsked = false
    /// Whether it has been told that the node cannot be reached, since it last was.
    var isKnownAway = false
    /// `nil` once the first attempt to connect has ended.
    private var held: [() -> Void]? = []

    init(_ address: RedisLocation.Address, _ connection: CommandConnection) {
        (self.address, self.connection) = (address, connection)
    }

    var isDecided: Bool { held == nil }
    var heldCount: Int { held?.count ?? 0 }

    func hold(_ errand: @escaping () -> Void) {
        held?.append(errand)
    }

    /// Ends the connection for good; what waited fails.
    func close() -> EventLoopFuture<Void> {
        let closed = connection.close()
        release()
        return closed
    }

    /// What waited goes, or fails.
    func release() {
        let errands = held ?? []
        held = nil
        for errand in errands { errand() }
    }
}
