// Replies of Redis as a tree. Bulk strings stay bytes; callers decide which of them are text.

/// A reply of Redis, or an element of one.
public enum RedisValue: Hashable, Sendable {
    /// A short word such as `OK`.
    case status(String)
    /// An error inside an array. An error as the whole reply fails the command instead.
    case error(RedisServerError)
    case integer(Int64)
    case bulk([UInt8])
    case array([RedisValue])
    case null
}

extension RedisValue {
    /// The text of a bulk string or a status; `nil` for other values, and for bytes that are not valid UTF-8.
    public var string: String? {
        switch self {
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        case .status(let text): text
        case .error, .integer, .array, .null: nil
        }
    }

    /// A number: an integer, or a bulk string with the decimal form of one, as hashes and sorted sets contain.
    public var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .bulk, .status: string.flatMap { Int64($0) }
        case .error, .array, .null: nil
        }
    }

    public var array: [RedisValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    public var isNull: Bool { self == .null }
}
