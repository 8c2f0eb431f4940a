// Commands, encoded as arrays of bulk strings directly into the output buffer.

import NIOCore

/// A command: its name, for errors and logs, and its arguments.
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
    }
}

extension RedisCommand.Argument: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension RedisCommand.Argument: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension ByteBuffer {
    /// Appends the encoded command.
    mutating func write(_ command: RedisCommand) {
        writeWithUnsafeMutableBytes(minimumWritableBytes: command.maximumEncodedBytes) { space in
            var writer = CommandWriter(space: space)
            writer.line("*", 1 + command.arguments.count)
            writer.bulk(command.name)
            for argument in command.arguments { writer.bulk(argument) }
            return writer.written
        }
    }

    /// Appends a command with a key as its only argument.
    mutating func write(_ name: String, key: TaggedKey) {
        let size = 3 * headerBytes + name.utf8.count + key.byteCount
        writeWithUnsafeMutableBytes(minimumWritableBytes: size) { space in
            var writer = CommandWriter(space: space)
            writer.line("*", 2)
            writer.bulk(name)
            writer.bulk(key)
            return writer.written
        }
    }
}

extension RedisCommand {
    /// An upper bound of the encoded size.
    fileprivate var maximumEncodedBytes: Int {
        arguments.reduce(2 * headerBytes + name.utf8.count) { $0 + headerBytes + $1.maximumBytes }
    }
}

extension RedisCommand.Argument {
    fileprivate var maximumBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .integer: maximumDigits
        case .bytes(let bytes): bytes.count
        }
    }
}

/// `$`, a length, and two line ends.
private let headerBytes = 1 + maximumDigits + 4
/// The length of the smallest `Int64`, including its sign.
private let maximumDigits = 20

/// Writes into memory whose size was checked before.
private struct CommandWriter {
    let space: UnsafeMutableRawBufferPointer
    var written = 0

    mutating func bulk(_ argument: RedisCommand.Argument) {
        switch argument {
        case .string(let text): bulk(text)
        case .integer(let number): integer(number)
        case .bytes(let bytes): bytes.withUnsafeBytes { bulk($0) }
        }
    }

    mutating func bulk(_ text: String) {
        var text = text
        text.withUTF8 { bulk(UnsafeRawBufferPointer($0)) }
    }

    mutating func bulk(_ key: TaggedKey) {
        line("$", key.byteCount)
        written += key.write(to: UnsafeMutableRawBufferPointer(rebasing: space[written...]))
        endLine()
    }

    private mutating func bulk(_ bytes: UnsafeRawBufferPointer) {
        line("$", bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: space[written...]).copyMemory(from: bytes)
        written += bytes.count
        endLine()
    }

    private mutating func integer(_ number: Int64) {
        line("$", (number < 0 ? 1 : 0) + digits(of: number.magnitude))
        if number < 0 { byte("-") }
        decimal(number.magnitude)
        endLine()
    }

    mutating func line(_ mark: Unicode.Scalar, _ number: Int) {
        byte(mark)
        decimal(UInt64(number))
        endLine()
    }

    private mutating func decimal(_ number: UInt64) {
        var rest = number
        let count = digits(of: number)
        for position in stride(from: written + count - 1, through: written, by: -1) {
            space[position] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        written += count
    }

    private func digits(of number: UInt64) -> Int {
        var count = 1
        var rest = number / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return count
    }

    private mutating func endLine() {
        byte("\r")
        byte("\n")
    }

    private mutating func byte(_ scalar: Unicode.Scalar) {
        space[written] = UInt8(ascii: scalar)
        written += 1
    }
}
