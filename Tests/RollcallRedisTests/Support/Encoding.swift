import NIOCore

@testable import RollcallRedis

extension RedisValue {
    /// The reply as Redis writes it.
    var encoded: String {
        switch self {
        case .status(let text): "+\(text)\r\n"
        case .error(let error): "-\(error)\r\n"
        case .integer(let number): ":\(number)\r\n"
        case .bulk(let bytes): "$\(bytes.count)\r\n\(String(decoding: bytes, as: UTF8.self))\r\n"
        case .array(let elements): "*\(elements.count)\r\n" + elements.map(\.encoded).joined()
        case .null: "$-1\r\n"
        }
    }

    static func text(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }
}

extension RESPReader {
    /// Feeds text, and returns the completed replies.
    func read(_ text: String) -> (replies: [RedisValue], error: RedisError?) {
        var replies: [RedisValue] = []
        let error = feed(ByteBuffer(string: text)) {
            replies.append($0.tree)
            return true
        }
        return (replies, error)
    }
}
