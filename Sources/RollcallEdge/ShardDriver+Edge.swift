// Connects the edge and the shard of an event loop.

import NIOCore
import RollcallCore
import RollcallModel
import RollcallShards

extension ShardDriver: EdgeShard {
    func serves(_ loop: EdgeLoop) {
        edge = EdgeTapes(of: loop, in: factory)
    }

    func connected(_ connection: EdgeConnection) { connected(peer: connection) }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) { received(text, from: connection) }

    func fellBehind(_ connection: EdgeConnection) { fellBehind(peer: connection) }

    func drained(_ connection: EdgeConnection) { drained(peer: connection) }

    func disconnected(_ connection: EdgeConnection) {
        disconnected(peer: connection, silence: .nanoseconds((.now() - connection.lastByte).nanoseconds))
    }
}

extension EdgeConnection: Peer {
    /// The token names the user.
    var user: UserID? { nil }

    func send(_ dispatch: inout Dispatch, counting: Bool) -> Bool { send(dispatch.frame, counting: counting) }

    func spare(_ dispatch: inout Dispatch) { spare(dispatch.frame) }

    func limitHit(_ limit: Limit) { loop.limitHit(limit) }

    func close(_ end: SessionEnd) { close(end.code, reason: end.sentence) }
}

extension Dispatch {
    /// The message as a frame, which is built once for all its receivers.
    fileprivate var frame: ServerFrame {
        mutating get {
            if let encoded { return ServerFrame(finished: encoded) }
            let frame = ServerFrame(message)
            encoded = frame.bytes
            return frame
        }
    }
}
