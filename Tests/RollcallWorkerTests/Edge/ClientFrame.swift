// A client's frames, valid or invalid, byte by byte.

/// A client's frame. Each field can be set to an invalid value.
struct ClientFrame {
    /// The opcode as a number, so that reserved ones can be sent too.
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    var reserved: UInt8 = 0
    var mask: UInt32? = 0x37FA_213D
    /// The number of extra bytes for the length, 0 for the 7 bits only; `nil` for the fewest.
    var lengthBytes: Int?

    static func text(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }

    static func continuation(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 0, payload: Array(text.utf8), isFinal: isFinal)
    }

    static func ping(_ text: String = "") -> ClientFrame { ClientFrame(opcode: 9, payload: Array(text.utf8)) }
    static let pong = ClientFrame(opcode: 10)

    static func close(_ code: UInt16? = nil, _ reason: String = "") -> ClientFrame {
        ClientFrame(opcode: 8, payload: code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + Array(reason.utf8) } ?? [])
    }

    var bytes: [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let fewest = payload.count < 126 ? 0 : payload.count < 0x10000 ? 2 : 8
        let size = lengthBytes ?? fewest
        let short = size == 0 ? UInt8(payload.count) : size == 2 ? 126 : 127
        bytes.append((mask == nil ? 0 : 0x80) | short)
        bytes += (0..<size).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        guard let mask else { return bytes + payload }
        let key = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mask >> $0) }
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }
}
