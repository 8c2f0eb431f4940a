// A device's side of the protocol over a blocking socket, with as little code as possible between the kernel and a
// message.

import Foundation
import RollcallClient
import RollcallLoad
import RollcallModel

/// A device that has sent its hello and joined a conversation.
struct RawDevice {
    let socket: BlockingSocket

    private enum Opcode {
        static let text: UInt8 = 1
        static let ping: UInt8 = 9
    }

    /// - Parameter user: the user, and also the token, for a worker with `auth.mode: insecure`.
    init(_ user: String, at worker: DevWorker, in conversation: ConversationID) throws {
        guard let port = URLComponents(string: worker.edge)?.port else { throw BenchFailure("no edge: \(worker.edge)") }
        socket = try BlockingSocket(port: port)
        let lines = [
            "GET /v1/connect HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", "",
        ]
        try socket.write(Array(lines.joined(separator: "\r\n").utf8))
        let answer = try socket.read(through: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 101 ") else { throw BenchFailure("the worker opened no WebSocket: \(answer)") }
        try socket.write(DeviceFrame.message(.hello(.init(token: user, device: "bench"))))
        let joined = MessageID.integer(1)
        try socket.write(DeviceFrame.message(.join(conversation, presence: false), id: joined))
        while case (let message, _) = try receive(), message != .ack(joined) {}
    }

    /// Returns the next message, and when the last byte of its frame had arrived.
    func receive() throws -> (ServerMessage, ContinuousClock.Instant) {
        while true {
            let head = try socket.read(2)
            let payload = try socket.read(length(head[1]))
            let arrival = ContinuousClock.now
            switch head[0] & 0x0F {
            case Opcode.text: return (try MessageCodec().message(from: payload), arrival)
            case Opcode.ping: try socket.write(DeviceFrame.pong(payload))
            case let opcode: throw BenchFailure("the worker ended the connection, or sent opcode \(opcode)")
            }
        }
    }

    /// Reads the rest of a frame's length. The 8-byte form is not needed here.
    private func length(_ short: UInt8) throws -> Int {
        guard short == 126 else { return Int(short) }
        return try socket.read(2).reduce(0) { $0 << 8 | Int($1) }
    }
}
