// Connections of a shard: connects, messages and disconnects.

internal import NIOCore
internal import RollcallCore
internal import RollcallModel

extension ShardDriver: EdgeShard {
    func serves(_ loop: EdgeLoop) {
        edge = loop
    }

    func connected(_ connection: EdgeConnection) {
        connection.slot = occupy(.edge(connection))
    }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) {
        guard let key = key(of: .edge(connection)) else { return }
        after { shard, now in
            do {
                let request = try text.withUnsafeReadableBytes { try MessageCodec().request(from: $0) }
                return shard.received(request, on: key, at: now)
            } catch let error as MessageError {
                return shard.received(error, on: key, at: now)
            } catch {
                return shard.receivedGarbage(on: key, at: now)
            }
        }
    }

    func fellBehind(_ connection: EdgeConnection) {
        if let key = key(of: .edge(connection)) { shell.shard.fellBehind(key) }
    }

    func drained(_ connection: EdgeConnection) {
        drained(.edge(connection))
    }

    func disconnected(_ connection: EdgeConnection) {
        disconnected(.edge(connection), silence: .nanoseconds((.now() - connection.lastByte).nanoseconds))
    }
}

// Connections of this process.
extension ShardDriver {
    func connected(_ connection: LocalConnection) {
        connection.slot = occupy(.local(connection))
    }

    func received(_ request: ClientRequest, on connection: LocalConnection) {
        guard let key = key(of: .local(connection)) else { return }
        after { $0.received(request, on: key, at: $1) }
    }

    func drained(_ connection: LocalConnection) {
        drained(.local(connection))
    }

    func disconnected(_ connection: LocalConnection) {
        disconnected(.local(connection), silence: .zero)
    }
}

extension ShardDriver {
    /// The connection in a slot of the shard.
    struct Occupant {
        let key: SessionKey
        let peer: Peer
        let since: Instant
        /// The seat among the user's devices, once the user is known.
        var seat: UserSeats.Seat?
    }

    func peer(of key: SessionKey) -> Peer? {
        guard occupants.indices.contains(Int(key.index)), occupants[Int(key.index)]?.key == key else { return nil }
        return occupants[Int(key.index)]?.peer
    }

    /// Returns the user and device of a token.
    func identity(of key: SessionKey, token: String, device: DeviceID?) throws(AuthenticationError) -> Identity {
        switch peer(of: key) {
        case .local(let connection):
            Identity(user: connection.user, device: try Identity.device(device), expires: nil)
        case .edge, nil:
            try authenticator.authenticate(token: token, device: device)
        }
    }

    /// Gives a session its seat among those of the worker and of its user. Sessions of this process are not counted.
    ///
    /// - Returns: The close code if there is no seat.
    func seat(_ identity: Identity, in key: SessionKey) -> CloseCode? {
        guard case .edge(let connection)? = peer(of: key), occupants[Int(key.index)]?.seat == nil else { return nil }
        guard connection.takeSeat() else { return .busy }
        let seat = UserSeats.Seat(user: identity.user, device: identity.device)
        if let refusal = seats.take(seat, at: .now()) {
            connection.loop.limitHit(refusal.limit)
            return refusal.code
        }
        occupants[Int(key.index)]?.seat = seat
        return nil
    }

    /// Empties the slot.
    ///
    /// - Returns: Its last occupant.
    @discardableResult
    func vacate(_ key: SessionKey) -> Peer? {
        guard let peer = peer(of: key) else { return nil }
        if let seat = occupants[Int(key.index)]?.seat { seats.release(seat) }
        occupants[Int(key.index)] = nil
        tally.connections -= 1
        return peer
    }

    private func occupy(_ peer: Peer) -> Int32 {
        let since = now
        let key = shell.shard.connected(at: since)
        while occupants.count <= Int(key.index) { occupants.append(nil) }
        occupants[Int(key.index)] = Occupant(key: key, peer: peer, since: since)
        tally.connections += 1
        shell.wakeInTime()
        return key.index
    }

    private func drained(_ peer: Peer) {
        guard let key = key(of: peer) else { return }
        after { $0.caughtUp(key, at: $1) }
    }

    private func disconnected(_ peer: Peer, silence: Duration) {
        guard let key = key(of: peer) else { return }
        vacate(key)
        after { $0.disconnected(key, silence: silence, at: $1) }
    }

    private func key(of peer: Peer) -> SessionKey? {
        guard occupants.indices.contains(Int(peer.slot)), let occupant = occupants[Int(peer.slot)],
            occupant.peer === peer
        else { return nil }
        return occupant.key
    }
}
