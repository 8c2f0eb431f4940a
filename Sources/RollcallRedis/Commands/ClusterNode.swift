import NIOCore

/// A node of a cluster, and the commands that wait for its first connection attempt.
final class ClusterNode {
    let address: RedisLocation.Address
    let connection: CommandConnection
    /// Whether commands were sent here because of an `ASK` redirection, since the map was last read.
    var wasAsked = false
    /// Whether the owner was informed that the node is unreachable, since it last was reachable.
    var isKnownAway = false
    /// `nil` once the first connection attempt has ended.
    private var held: [() -> Void]? = []

    init(_ address: RedisLocation.Address, _ connection: CommandConnection) {
        (self.address, self.connection) = (address, connection)
    }

    var isDecided: Bool { held == nil }
    var heldCount: Int { held?.count ?? 0 }

    func hold(_ errand: @escaping () -> Void) {
        held?.append(errand)
    }

    /// Closes the connection; waiting commands fail.
    func close() -> EventLoopFuture<Void> {
        let closed = connection.close()
        release()
        return closed
    }

    /// Sends the waiting commands. They fail if there is no connection.
    func release() {
        let errands = held ?? []
        held = nil
        for errand in errands { errand() }
    }
}
