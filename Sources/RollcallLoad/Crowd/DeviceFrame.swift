// What simulated devices send, as finished frames, since most devices send the same repeatedly.

package import RollcallModel

/// A device's frames. Their mask is all zeros: RFC 6455 requires a mask, but workers do not check its value.
package enum DeviceFrame {
    package static func message(_ message: ClientMessage, id: MessageID? = nil) -> [UInt8] {
        frame(opcode: 1, MessageCodec().json(of: ClientRequest(message, id: id)))
    }

    package static func pong(_ payload: some Collection<UInt8>) -> [UInt8] {
        frame(opcode: 10, Array(payload))
    }

    private static func frame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count
        let head: [UInt8] =
            length < 126
            ? [0x80 | opcode, 0x80 | UInt8(length)]
            : [0x80 | opcode, 0x80 | 126, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        return head + [0, 0, 0, 0] + payload
    }
}
