// A command: its name, for errors and logs, and its arguments, which are encoded directly into the output buffer.

public import NIOCore

/// A command and its arguments.
public struct RedisCommand: Sendable {
    /// The command's name, such as `HSET`.
    public let name: String
    public var arguments: [Argument]

    public init(_ name: String, _ arguments: Argument...) {
        self.init(name, arguments: arguments)
    }

    public init(_ name: String, arguments: [Argument]) {
        self.name = name
        self.arguments = arguments
    }

    /// One argument of a command. Redis receives only its bytes.
    public enum Argument: Hashable, Sendable {
        case string(String)
        case integer(Int64)
        case bytes([UInt8])
        case buffer(ByteBuffer)
    }
}

extension RedisCommand.Argument: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension RedisCommand.Argument: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}
