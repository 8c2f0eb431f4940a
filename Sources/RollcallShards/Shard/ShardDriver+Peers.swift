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
        guard let session = session(of: peer) else { return }
        after { $0.received(request, on: session, at: $1) }
    }

    /// Handles a complete text message, which is valid UTF-8.
    package func received(_ text: ByteBuffer, from peer: any Peer) {
        guard let session = session(of: peer) else { return }
        after { shard, now in
            do {
                let request = try text.withUnsafeReadableBytes { try MessageCodec().request(from: $0) }
                return shard.received(request, on: session, at: now)
            } catch let error as MessageError {
                return shard.received(error, on: session, at: now)
            } catch {
                return shard.receivedGarbage(on: session, at: now)
            }
        }
    }

    package func fellBehind(peer: any Peer) {
        if let session = session(of: peer) { shell.shard.fellBehind(session) }
    }

    package func drained(peer: any Peer) {
        guard let session = session(of: peer) else { return }
        after { $0.caughtUp(session, at: $1) }
    }

    /// - Parameter silence: The time since the last byte.
    package func disconnected(peer: any Peer, silence: Duration) {
        guard let session = session(of: peer) else { return }
        vacate(session)
        after { $0.disconnected(session, silence: silence, at: $1) }
    }
}

extension ShardDriver {
    /// The connection in a slot of the shard.
    struct Occupant {
        let session: Session
        let peer: any Peer
        /// The seat among the user's devices, once the user is known.
        var seat: UserSeats.Seat?
    }

    func peer(of session: Session) -> (any Peer)? {
        guard occupants.indices.contains(Int(session.number)), occupants[Int(session.number)]?.session == session else {
            return nil
        }
        return occupants[Int(session.number)]?.peer
    }

    /// Returns the user and device of a token.
    func identity(of session: Session, token: ByteString, device: DeviceID?) throws(AuthenticationError) -> Identity {
        if let user = peer(of: session)?.user {
            return Identity(user: user, device: try Identity.device(device), expires: nil)
        }
        guard let authenticator else { throw AuthenticationError(.wrongAlgorithm, "this node takes no tokens") }
        return try authenticator.identity(token: token, device: device)
    }

    /// Gives a session its seat among those of the worker and of its user. Sessions of this process are not counted.
    ///
    /// - Returns: How the session ends if there is no seat.
    func seat(_ identity: Identity, in session: Session) -> SessionEnd? {
        guard let peer = peer(of: session), peer.user == nil, occupants[Int(session.number)]?.seat == nil else {
            return nil
        }
        guard peer.takeSeat() else { return .busy() }
        let seat = UserSeats.Seat(user: identity.user, device: identity.device)
        if let refusal = seats.take(seat, at: .now()) {
            peer.limitHit(refusal.limit)
            return refusal.end
        }
        occupants[Int(session.number)]?.seat = seat
        return nil
    }

    /// Empties the slot.
    ///
    /// - Returns: Its last occupant.
    @discardableResult
    func vacate(_ session: Session) -> (any Peer)? {
        guard let peer = peer(of: session) else { return nil }
        if let seat = occupants[Int(session.number)]?.seat { seats.release(seat) }
        occupants[Int(session.number)] = nil
        tally.connections -= 1
        return peer
    }

    private func occupy(_ peer: any Peer) -> Int32 {
        let session = shell.shard.connected(at: now)
        while occupants.count <= Int(session.number) { occupants.append(nil) }
        occupants[Int(session.number)] = Occupant(session: session, peer: peer)
        tally.connections += 1
        shell.wakeInTime()
        return session.number
    }

    private func session(of peer: any Peer) -> Session? {
        guard occupants.indices.contains(Int(peer.slot)), let occupant = occupants[Int(peer.slot)],
            occupant.peer === peer
        else { return nil }
        return occupant.session
    }
}
