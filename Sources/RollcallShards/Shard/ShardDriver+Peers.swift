// Connections of a shard: connects, messages and disconnects.

package import NIOCore
internal import RollcallCore
package import RollcallModel

// Events of connections.
extension ShardDriver {
    package func connected(peer: any Peer) {
        peer.slot = occupy(peer)
    }

    package func received(_ request: ClientRequest, from peer: any Peer) {
        guard let key = key(of: peer) else { return }
        after { $0.received(request, on: key, at: $1) }
    }

    /// Handles a complete text message, which is valid UTF-8.
    package func received(_ text: ByteBuffer, from peer: any Peer) {
        guard let key = key(of: peer) else { return }
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

    package func fellBehind(peer: any Peer) {
        if let key = key(of: peer) { shell.shard.fellBehind(key) }
    }

    package func drained(peer: any Peer) {
        guard let key = key(of: peer) else { return }
        after { $0.caughtUp(key, at: $1) }
    }

    /// - Parameter silence: The time since the last byte.
    package func disconnected(peer: any Peer, silence: Duration) {
        guard let key = key(of: peer) else { return }
        vacate(key)
        after { $0.disconnected(key, silence: silence, at: $1) }
    }
}

extension ShardDriver {
    /// The connection in a slot of the shard.
    struct Occupant {
        let key: Session
        let peer: any Peer
        /// The seat among the user's devices, once the user is known.
        var seat: UserSeats.Seat?
    }

    func peer(of key: Session) -> (any Peer)? {
        guard occupants.indices.contains(Int(key.number)), occupants[Int(key.number)]?.key == key else { return nil }
        return occupants[Int(key.number)]?.peer
    }

    /// Returns the user and device of a token.
    func identity(of key: Session, token: ByteString, device: DeviceID?) throws(AuthenticationError) -> Identity {
        if let user = peer(of: key)?.user {
            return Identity(user: user, device: try Identity.device(device), expires: nil)
        }
        guard let authenticator else { throw AuthenticationError(.wrongAlgorithm, "this node takes no tokens") }
        return try authenticator.identity(token: token, device: device)
    }

    /// Gives a session its seat among those of the worker and of its user. Sessions of this process are not counted.
    ///
    /// - Returns: How the session ends if there is no seat.
    func seat(_ identity: Identity, in key: Session) -> SessionEnd? {
        guard let peer = peer(of: key), peer.user == nil, occupants[Int(key.number)]?.seat == nil else { return nil }
        guard peer.takeSeat() else { return .busy() }
        let seat = UserSeats.Seat(user: identity.user, device: identity.device)
        if let refusal = seats.take(seat, at: .now()) {
            peer.limitHit(refusal.limit)
            return refusal.end
        }
        occupants[Int(key.number)]?.seat = seat
        return nil
    }

    /// Empties the slot.
    ///
    /// - Returns: Its last occupant.
    @discardableResult
    func vacate(_ key: Session) -> (any Peer)? {
        guard let peer = peer(of: key) else { return nil }
        if let seat = occupants[Int(key.number)]?.seat { seats.release(seat) }
        occupants[Int(key.number)] = nil
        tally.connections -= 1
        return peer
    }

    private func occupy(_ peer: any Peer) -> Int32 {
        let key = shell.shard.connected(at: now)
        while occupants.count <= Int(key.number) { occupants.append(nil) }
        occupants[Int(key.number)] = Occupant(key: key, peer: peer)
        tally.connections += 1
        shell.wakeInTime()
        return key.number
    }

    private func key(of peer: any Peer) -> Session? {
        guard occupants.indices.contains(Int(peer.slot)), let occupant = occupants[Int(peer.slot)],
            occupant.peer === peer
        else { return nil }
        return occupant.key
    }
}
