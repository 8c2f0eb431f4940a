// What a worker does with bytes: it decodes a client's frame, passes a message from Redis to its topic, and encodes a
// frame for all its recipients.

import NIOCore
import RollcallClient
import RollcallProtocol
import RollcallRedis
import RollcallServer

func measureWire(_ bench: inout Bench) {
    measureFrames(&bench)
    measurePushes(&bench)
}

private func measureFrames(_ bench: inout Bench) {
    let frame = maskedFrame(Sample.signal)
    var decoder = WebSocketDecoder(limit: 65_536)
    var message = ByteBuffer()
    bench.row("unmasking a signal's frame") { _ in
        var input = frame
        guard case .text? = try? decoder.next(&input, message: &message) else {
            preconditionFailure("the frame is no text")
        }
    }
    bench.row("a typing message as a frame") { _ in keep(ServerFrame(Sample.typing)) }
}

/// Returns a short text frame as a client sends it.
private func maskedFrame(_ text: String) -> ByteBuffer {
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    let payload = text.utf8.enumerated().map { $1 ^ mask[$0 % 4] }
    return ByteBuffer(bytes: [0x81, 0x80 | UInt8(payload.count)] + mask + payload)
}

private func measurePushes(_ bench: inout Bench) {
    let town = Topic.typing("c42")
    let subscriber = subscriber(of: town)
    var heard = 0
    subscriber.onMessage = { _, payload in heard += payload.readableBytes }
    let push = push(Sample.change, on: town)
    bench.row("a message from Redis, to its topic") { _ in
        heard = 0
        subscriber.connection.feed(push)
        guard heard == Sample.change.utf8.count else { preconditionFailure("the message was not handed over") }
    }
}
