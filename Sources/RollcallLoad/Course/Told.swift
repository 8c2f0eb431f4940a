// What a worker says, read no further than is needed: fields stand in alphabetical order, so the first of them tells the
// kind of a message. Whole messages are read where something depends on them.

internal import RollcallModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A worker's message, by what it means to a simulated device.
enum Told {
    case acknowledged(Int)
    case welcome
    /// Who types in a conversation, or something else about one.
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

    /// The whole message.
    static func whole(_ text: UnsafeRawBufferPointer) -> ServerMessage? {
        try? MessageCodec().message(from: text)
    }

    /// The number of `…7,"type":"ack"}`; an answer of another type has its own meaning.
    private static func number(in text: Slice<UnsafeRawBufferPointer>) -> Int? {
        var (number, rest) = (0, text)
        while let digit = rest.first, 48...57 ~= digit {
            number = number &* 10 &+ Int(digit &- 48)
            rest = rest.dropFirst()
        }
        return rest.elementsEqual(#","type":"ack"}"#.utf8) ? number : nil
    }
}

/// The last picture of typing, and the bytes that showed it. All observers of a conversation but the typists are sent the
/// same bytes, and mostly one after the other: those are read once.
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
