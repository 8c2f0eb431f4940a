// Reads no more of a worker's message than necessary. Fields are in alphabetical order, so the first one shows the type
// of a message. A message is decoded completely only if its content matters.

internal import RollcallModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A worker's message, by its meaning for a simulated device.
enum Told {
    case acknowledged(Int)
    case welcome
    /// A message about a conversation, usually who is typing there.
    case conversation
    case error
    case goodbye
    case other

    init(_ text: UnsafeRawBufferPointer) {
        if text.starts(with: #"{"type":"#.utf8) {
            self = .other
        } else if text.starts(with: #"{"conversation":"#.utf8) {
            self = .conversation
        } else if text.starts(with: #"{"id":"#.utf8) {
            self = Self.number(in: text.dropFirst(6)).map(Self.acknowledged) ?? .other
        } else if text.starts(with: #"{"device":"#.utf8) {
            self = .welcome
        } else if text.starts(with: #"{"after":"#.utf8) || text.starts(with: #"{"reason":"#.utf8)
            || text.starts(with: #"{"reconnect":"#.utf8)
        {
            self = .goodbye
        } else {
            self = text.starts(with: #"{"code":"#.utf8) ? .error : .other
        }
    }

    /// Decodes the whole message.
    static func whole(_ text: UnsafeRawBufferPointer) -> ServerMessage? {
        try? MessageCodec().message(from: text)
    }

    /// Returns the number in `…7,"type":"ack"}`; `nil` for answers of other types.
    private static func number(in text: Slice<UnsafeRawBufferPointer>) -> Int? {
        var (number, rest) = (0, text)
        while let digit = rest.first, 48...57 ~= digit {
            number = number &* 10 &+ Int(digit &- 48)
            rest = rest.dropFirst()
        }
        return rest.elementsEqual(#","type":"ack"}"#.utf8) ? number : nil
    }
}

/// The last picture of typing, and the bytes that it was read from. All observers of a conversation except the typing
/// users get the same bytes, usually in succession; those are decoded once.
struct PictureReader {
    private var text: [UInt8] = []
    private(set) var picture: TypingPicture?

    func knows(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == text.count, let start = bytes.baseAddress else { return false }
        return memcmp(text, start, text.count) == 0
    }

    mutating func keep(_ bytes: UnsafeRawBufferPointer, showing picture: TypingPicture?) {
        text.removeAll(keepingCapacity: true)
        text.append(contentsOf: bytes)
        self.picture = picture
    }
}
