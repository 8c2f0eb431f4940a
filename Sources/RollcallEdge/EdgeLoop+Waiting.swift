// Connections that are not sessions: in the handshake, before the answer to hello, or closing. Anyone can open them, so
// they have a separate limit and take no session's place. Beyond the limit, the address with the most of them loses its
// oldest: a legitimate handshake and hello take milliseconds.

import RollcallCore
import RollcallListener
import RollcallShards

/// A connection that is not a session.
struct Waiting {
    enum Stage {
        /// Ends at `until`, in the loop's awake time.
        case handshake(HandshakeHandler, until: Duration)
        /// A WebSocket without hello, or whose token is not checked yet. The shard limits its time.
        case greeting(EdgeConnection)
        /// Its close frame is sent, or waits behind data that the peer has not read.
        case closing(EdgeConnection, ClosingPatience)
    }

    var stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    var address: ClientAddress {
        switch stage {
        case .handshake(let handler, _): handler.address
        case .greeting(let connection), .closing(let connection, _): connection.address
        }
    }

    /// Whether the connection has moved to the next state or closed.
    var isOver: Bool {
        switch stage {
        case .handshake(let handler, _): handler.isOver
        case .greeting(let connection):
            connection.isSeated || connection.isHalfClosed || connection.phase == .over
        case .closing(let connection, _): connection.phase == .over
        }
    }

    /// Ends the connection to make room for a newer one.
    func giveWay() {
        switch stage {
        case .handshake(let handler, _): handler.giveUp(.busy)
        case .greeting(let connection), .closing(let connection, _): connection.abort()
        }
    }

    /// Selects the connections to drop when there are too many: the oldest of the address with the most.
    ///
    /// - Parameters:
    ///   - count: How many to drop at most.
    ///   - addresses: The addresses of all connections, oldest first.
    /// - Returns: The indices to drop.
    static func surplus(_ count: Int, of addresses: [ClientAddress]) -> [Int] {
        let held = addresses.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let most = held.values.max()
        return Array(addresses.indices.lazy.filter { held[addresses[$0]] == most }.prefix(count))
    }
}

extension EdgeLoop {
    /// Makes room for one more connection.
    func makeRoom() {
        guard waiting.count >= settings.handshakes else { return }
        waiting.removeAll(where: \.isOver)
        guard waiting.count >= settings.handshakes else { return }
        limitHit(.handshakes)
        // Drops a few extra, so that a flood does not cause a full scan per connection.
        let count = waiting.count - settings.handshakes + max(1, settings.handshakes / 64)
        let surplus = Waiting.surplus(count, of: waiting.map(\.address))
        let dropped = surplus.map { waiting[$0] }
        surplus.reversed().forEach { waiting.remove(at: $0) }
        dropped.forEach { $0.giveWay() }
    }

    /// Ends connections that exceed their deadlines.
    func sweepWaiting() {
        let now = clock.awake
        for index in waiting.indices where !waiting[index].isOver {
            switch waiting[index].stage {
            case .handshake(let handler, let until):
                guard until <= now else { break }
                limitHit(.hello)
                handler.giveUp(.late)
            case .greeting: break
            case .closing(let connection, var patience):
                if patience.isOver(waiting: connection.outboundBytes, at: now) { connection.abort() }
                waiting[index].stage = .closing(connection, patience)
            }
        }
        waiting.removeAll(where: \.isOver)
    }

    /// How many connections are not WebSockets yet.
    var handshakesInHand: Int {
        waiting.count { if case .handshake = $0.stage { true } else { false } }
    }
}
