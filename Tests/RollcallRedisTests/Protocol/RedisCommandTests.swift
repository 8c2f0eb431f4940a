import NIOCore
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct RedisCommandTests {
    @Test func `a command is an array of bulk strings`() {
        var buffer = ByteBuffer()
        buffer.write(
            RedisCommand("HSET", "typing:{é}", -42, .bytes([0, 13, 10, 255]), "b", ""))
        var expected = ByteBuffer(string: "*6\r\n$4\r\nHSET\r\n$11\r\ntyping:{é}\r\n$3\r\n-42\r\n$4\r\n")
        expected.writeBytes([0, 13, 10, 255])
        expected.writeString("\r\n$1\r\nb\r\n$0\r\n\r\n")
        #expect(buffer == expected)
    }

    @Test func `commands follow one another in one buffer, and are read back as they were`() {
        randomised("commands") { random in
            var buffer = ByteBuffer()
            var expected: [RedisValue] = []
            for _ in 0..<500 {
                let arguments = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    RedisCommand.Argument.random(using: &random)
                }
                buffer.write(RedisCommand("NAME", arguments: arguments))
                expected.append(.array([.text("NAME")] + arguments.map { .bulk($0.content) }))
            }
            let reader = RESPReader(maximumReplyBytes: 64 << 20)
            var read: [RedisValue] = []
            let error = reader.feed(buffer) {
                read.append($0.tree)
                return true
            }
            #expect(error == nil)
            #expect(read == expected)
        }
    }
}

extension RedisCommand.Argument {
    fileprivate static func random(using random: inout SeededGenerator) -> Self {
        switch Int.random(in: 0...3, using: &random) {
        case 0: .integer(Int64(truncatingIfNeeded: random.next() >> UInt64.random(in: 0...63, using: &random)))
        case 1: .integer([.min, .max, 0, -1, 9, 10, 99, 100].randomElement(using: &random)!)
        case 2: .string(String(repeating: "é", count: .random(in: 0...200, using: &random)))
        default: .bytes((0..<Int.random(in: 0...300, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        }
    }

    fileprivate var content: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .integer(let number): Array(String(number).utf8)
        case .bytes(let bytes): bytes
        }
    }
}
