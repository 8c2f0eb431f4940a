// The sessions of a loop's connections.

import NIOCore
import RollcallCore
import RollcallModel
import RollcallShards

extension ShardDriver: EdgeShard {
    func serves(_ loop: EdgeLoop) {
        edge = EdgeTapes(of: loop, in: factory)
    }

    func connected(_ connection: EdgeConnection) {
        connection.session = shard.connected(connection)
    }

    func prove(
        _ token: ByteString, device: DeviceID?, of connection: EdgeConnection
    ) throws(ProofRefusal) -> Proof {
        let proof = try proof(of: token, device: device)
        guard !connection.isSeated else { return proof }
        guard connection.takeSeat() else { throw ProofRefusal(.busy(), endsWelcomed: true) }
        if let refusal = seats.take(UserSeats.Seat(user: proof.user, device: proof.device), at: .now()) {
            connection.leaveSeat()
            connection.limitHit(refusal.limit)
            throw ProofRefusal(refusal.end, endsWelcomed: true)
        }
        return proof
    }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) {
        guard let session = connection.session else { return }
        shard.after { shard, now in
            do {
                let request = try text.withUnsafeReadableBytes { try MessageCodec().request(from: $0) }
                shard.received(request, on: session, at: now)
            } catch let error as MessageError {
                shard.received(error, on: session, at: now)
            } catch {
                shard.receivedGarbage(on: session, at: now)
            }
        }
    }

    func fellBehind(_ connection: EdgeConnection) {
        if let session = connection.session { shard.fellBehind(session) }
    }

    func drained(_ connection: EdgeConnection) {
        guard let session = connection.session else { return }
        shard.after { $0.caughtUp(session, at: $1) }
    }

    func disconnected(_ connection: EdgeConnection) {
        guard let session = connection.session else { return }
        connection.session = nil
        // With the welcome, the user got a seat.
        if let name = session.name { seats.release(UserSeats.Seat(user: name.user, device: name.device)) }
        let silence = Duration.nanoseconds((.now() - connection.lastByte).nanoseconds)
        shard.after { $0.disconnected(session, silence: silence, at: $1) }
    }
}

extension EdgeConnection: Peer {
    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        try loop.shard.prove(token, device: device, of: self)
    }

    func send(_ delivery: Delivery, counting: Bool) -> Bool { send(loop.frame(of: delivery), counting: counting) }

    func spare(_ delivery: Delivery) { spare(loop.frame(of: delivery)) }

    func limitHit(_ limit: Limit) { loop.limitHit(limit) }

    func close(_ end: SessionEnd) { close(end.code, reason: end.sentence) }
}
