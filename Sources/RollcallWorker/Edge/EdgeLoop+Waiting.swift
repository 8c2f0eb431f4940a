// Connections that are no session: in their handshake, before the answer to their hello, or closing. Anybody can open
// them, so they take no session's place, and there is a limit to them of its own: beyond it, whoever has most of them
// loses the oldest.

/// A connection that is no session.
struct Waiting {
    enum Stage {
        /// Ends at `until`, in the loop's time.
        case handshake(HandshakeHandler, until: Duration)
        /// A WebSocket that has said no hello, or whose token is not judged. The shard limits its time.
        case greeting(EdgeConnection)
        /// Its close frame is sent, or waits behind what its peer still reads.
        case closing(EdgeConnection, ClosingPatience)
    }

    /// How long a connection of an honest client takes at most to become a session.
    static let patience = Duration.seconds(1)

    var stage: Stage
    /// When the connection came to be one of these, in the loop's time.
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

    /// Whether the connection has gone on to the next stage, or is closed.
    var isOver: Bool {
        switch stage {
        case .handshake(let handler, _): handler.isOver
        case .greeting(let connection):
            connection.isSeated || connection.isHalfClosed || connection.phase == .over
        case .closing(let connection, _): connection.phase == .over
        }
    }

    /// Ends the connection in favour of a newer one.
    func giveWay() {
        switch stage {
        case .handshake(let handler, _): handler.giveUp(.busy)
        case .greeting(let connection), .closing(let connection, _): connection.abort()
        }
    }

    /// Whom to drop where there are too many: again and again the oldest of the address that has most. Where no address
    /// has an eighth of all, those who have waited for longer than honest clients do come first, lest a stranger with very
    /// many addresses outlast an office that has one.
    ///
    /// - Parameters:
    ///   - addresses: of all, the oldest first.
    ///   - late: how many of them, from the first on, have waited for so long.
    /// - Returns: their indices.
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
    /// Makes room for one connection more. An honest handshake and hello take milliseconds, so those that have to go have
    /// been at it for long.
    func makeRoom() {
        guard waiting.count >= settings.handshakes else { return }
        waiting.removeAll(where: \.isOver)
        guard waiting.count >= settings.handshakes else { return }
        limitHit(.handshakes)
        // Some more than one, so that a flood does not have all of them looked at for each connection.
        let count = waiting.count - settings.handshakes + max(1, settings.handshakes / 64)
        let late = waiting.prefix { $0.since + Waiting.patience <= clock.awake }.count
        let surplus = Waiting.surplus(count, of: waiting.map(\.address), late: late)
        let dropped = surplus.map { waiting[$0] }
        waiting = waiting.indices.filter { !surplus.contains($0) }.map { waiting[$0] }
        dropped.forEach { $0.giveWay() }
    }

    /// Ends what has taken too long.
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

    /// How many connections are no WebSocket yet.
    var handshakesInHand: Int {
        waiting.count { if case .handshake = $0.stage { true } else { false } }
    }
}
