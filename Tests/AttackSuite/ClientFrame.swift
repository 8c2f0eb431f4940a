// A client's frame in which everything can be wrong.

/// One frame. The defaults are valid; each field can be set to something invalid.
struct ClientFrame {
    var opcode: UInt8 = 1
    var payload: [UInt8] = []
    var isFinal = true
    var reserved: UInt8 = 0
    var isMasked = true
    /// The length that the frame claims, and the number of bytes that encode it; `nil` for the true length in the
    /// fewest bytes.
    var claimedLength: UInt64?
    var lengthBytes: Int?

    static func text(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(payload: Array(text.utf8), isFinal: isFinal)
    }

    var bytes: [UInt8] {
        let length = claimedLength ?? UInt64(payload.count)
        let size = lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
        let short = size == 0 ? UInt8(truncatingIfNeeded: length) & 0x7F : size == 2 ? 126 : 127
        let head = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode, (isMasked ? 0x80 : 0) | short]
        let field = (0..<size).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        guard isMasked else { return head + field + payload }
        return head + field + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }
}

extension [ClientFrame] {
    var bytes: [UInt8] { flatMap(\.bytes) }
}
