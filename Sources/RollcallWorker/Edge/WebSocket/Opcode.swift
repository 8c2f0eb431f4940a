// The kinds of WebSocket frame that RFC 6455 knows.

/// What a WebSocket frame is. All other numbers are reserved.
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames may stand between the fragments of a message, are never fragmented, and are short.
    var isControl: Bool { rawValue >= 0x8 }

    /// The longest payload of a control frame.
    static let controlLimit = 125
}
