// Connections that are not sessions: in the handshake, before the answer to hello, or closing. Anyone can open them, so
// they have a separate limit and take no session's place. Beyond the limit, the address with the most of them loses its
// oldest.

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

    /// The longest that a legitimate client takes to become a session.
    static let patience = Duration.seconds(1)

    var stage: Stage
    /// When the connection entered this state, in the loop's awake time.
    let since: Duration

    init(_ stage: Stage, since: Duration) {
        self.stage = stage
        self.since = since
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

    /// Selects the connections to drop when there are too many: repeatedly the oldest of the address with the most. If
    /// no address has an eighth of all, connections older than `patience` go first, so that an attacker with very many
    /// addresses cannot displace an office behind one address.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of all connections, oldest first.
    ///   - late: How many of the first ones are older than `patience`.
    /// - Returns: The indices to drop.
    static func surplus(_ count: Int, of addresses: [ClientAddress], late: Int = 0) -> Set<Int> {
        let most = addresses.reduce(into: [:]) { $0[$1, default: 0] += 1 }.values.max() ?? 0
        if late > 0, late < addresses.count, most <= addresses.count / 8 {
            let first = surplus(count, of: Array(addresses.prefix(late)))
            guard count > late else { return first }
            return first.union(surplus(count - late, of: Array(addresses.dropFirst(late))).map { $0 + late })
        }
        var held: [ClientAddress: Int] = [:]
        var ranked: [(rank: Int, index: Int)] = []
        for (index, address) in addresses.enumerated().reversed() {
            let rank = held[address, default: 0] + 1
            held[address] = rank
            ranked.append((rank, index))
        }
        ranked.sort { ($0.rank, $1.index) > ($1.rank, $0.index) }
        return Set(ranked.prefix(count).map(\.index))
    }
}

extension EdgeLoop {
    /// Makes room for one more connection. A legitimate handshake and hello take milliseconds, so the dropped ones have
    /// lasted long.
    func makeRoom() {
        guard waiting.count >= settings.handshakes else { return }
        waiting.removeAll(where: \.isOver)
        guard waiting.count >= settings.handshakes else { return }
        limitHit(.handshakes)
        // Drops a few extra, so that a flood does not cause a full scan per connection.
        let count = waiting.count - settings.handshakes + max(1, settings.handshakes / 64)
        let late = waiting.prefix { $0.since + Waiting.patience <= clock.awake }.count
        let surplus = Waiting.surplus(count, of: waiting.map(\.address), late: late)
        let dropped = surplus.map { waiting[$0] }
        waiting = waiting.indices.filter { !surplus.contains($0) }.map { waiting[$0] }
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
