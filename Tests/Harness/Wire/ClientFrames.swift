// The client side of WebSocket, written by hand so that the tests do not depend on the code under test.

/// The upgrade request, and the frames that a client sends.
enum ClientFrames {
    enum Opcode {
        static let text: UInt8 = 1
        static let close: UInt8 = 8
        static let ping: UInt8 = 9
        static let pong: UInt8 = 10
    }

    /// The upgrade request. Its key is the example in RFC 6455, so the expected response is known.
    static let upgradeRequest = Array(
        """
        GET /v1/connect HTTP/1.1\r
        Host: 127.0.0.1\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        \r\n
        """.utf8)

    /// Returns one complete frame. Its mask is all zeros, which RFC 6455 allows.
    static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            switch payload.count {
            case ..<126: [0x80 | UInt8(payload.count)]
            case ..<65_536: [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
            }
        return [0x80 | opcode] + length + [0, 0, 0, 0] + payload
    }

    /// Returns the text messages of one client, each in one frame, that follow its upgrade request.
    static func texts(in bytes: [UInt8]) -> [String] {
        guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return [] }
        var rest = bytes[head.upperBound...]
        var texts: [String] = []
        while let (opcode, payload) = masked(&rest) {
            if opcode == Opcode.text { texts.append(String(decoding: payload, as: UTF8.self)) }
        }
        return texts
    }

    /// Removes and returns the first frame if it is complete.
    private static func masked(_ rest: inout ArraySlice<UInt8>) -> (opcode: UInt8, payload: [UInt8])? {
        let bytes = Array(rest.prefix(14))
        guard bytes.count >= 6 else { return nil }
        let short = Int(bytes[1] & 0x7F)
        let size = short == 127 ? 8 : short == 126 ? 2 : 0
        guard bytes.count >= 6 + size else { return nil }
        let length = size == 0 ? short : bytes[2..<(2 + size)].reduce(0) { $0 << 8 | Int($1) }
        let mask = bytes[(2 + size)..<(6 + size)]
        let payload = rest.dropFirst(6 + size).prefix(length)
        guard payload.count == length else { return nil }
        rest = rest.dropFirst(6 + size + length)
        return (bytes[0] & 0x0F, payload.enumerated().map { $1 ^ mask[mask.startIndex + $0 % 4] })
    }

    /// Returns the code in a close frame; `nil` if it has none.
    static func closeCode(of payload: [UInt8]) -> Int? {
        payload.count < 2 ? nil : Int(payload[0]) << 8 | Int(payload[1])
    }
}

/// Splits what a worker sends into the upgrade response and the frames after it.
struct FrameReader {
    /// A worker did not upgrade the connection.
    struct NoUpgrade: Error, CustomStringConvertible {
        let description: String
    }

    private var unread: [UInt8] = []
    private var position = 0

    mutating func append(_ bytes: some Collection<UInt8>) {
        unread.removeFirst(position)
        position = 0
        unread.append(contentsOf: bytes)
    }

    /// Consumes the upgrade response.
    ///
    /// - Returns: whether it was complete.
    mutating func tookUpgrade() throws -> Bool {
        let end: [UInt8] = [13, 10, 13, 10]
        let rest = unread[position...]
        guard let start = rest.indices.first(where: { rest[$0...].starts(with: end) }) else { return false }
        let head = String(decoding: rest[..<start], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 101 "), head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") else {
            throw NoUpgrade(description: "no upgrade: \(head)")
        }
        position = start + end.count
        return true
    }

    mutating func next() -> (opcode: UInt8, payload: [UInt8])? {
        let rest = unread[position...]
        guard rest.count >= 2 else { return nil }
        let short = rest[position + 1]
        let size = short == 127 ? 8 : short == 126 ? 2 : 0
        guard rest.count >= 2 + size else { return nil }
        let start = position + 2 + size
        let length = size == 0 ? Int(short) : rest[(position + 2)..<start].reduce(0) { $0 << 8 | Int($1) }
        guard unread.count >= start + length else { return nil }
        defer { position = start + length }
        return (rest[position] & 0x0F, Array(rest[start..<(start + length)]))
    }
}
