// The types of WebSocket frames in RFC 6455.

/// The type of a WebSocket frame. All other numbers are reserved.
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames may appear between the fragments of a message. They are short and never fragmented.
    var isControl: Bool { rawValue >= 0x8 }

    /// The longest payload of a control frame.
    static let controlLimit = 125
}
