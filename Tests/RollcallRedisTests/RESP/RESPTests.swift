// Bytes to Redis and from Redis, and what an error says.

import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct RESPTests {
    // MARK: Commands

    @Test("commands follow one another in one buffer, and are read back as they were")
    func commands() {
        var buffer = ByteBuffer()
        buffer.write(RedisCommand("HSET", "typing:{é}", -42, .bytes([0, 13, 10, 255]), "b", ""))
        var expected = ByteBuffer(string: "*6\r\n$4\r\nHSET\r\n$11\r\ntyping:{é}\r\n$3\r\n-42\r\n$4\r\n")
        expected.writeBytes([0, 13, 10, 255])
        expected.writeString("\r\n$1\r\nb\r\n$0\r\n\r\n")
        #expect(buffer == expected)

        randomised("commands") { random in
            var (buffer, expected) = (ByteBuffer(), [RedisValue]())
            for _ in 0..<500 {
                let arguments = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    RedisCommand.Argument.random(using: &random)
                }
                buffer.write(RedisCommand("NAME", arguments: arguments))
                expected.append(.array([.text("NAME")] + arguments.map { .bulk($0.content) }))
            }
            let read = RESPReader(maximumReplyBytes: 64 << 20).read(buffer)
            #expect(read.error == nil && read.replies == expected)
        }
    }

    // MARK: Replies

    @Test(
        "a reply is read whole, in halves, and byte by byte",
        arguments: [
            ("+OK\r\n", RedisValue.status("OK")), ("+\r\n", .status("")),
            ("-READONLY You can't write.\r\n", .error("READONLY You can't write.")), (":0\r\n", .integer(0)),
            (":-9223372036854775808\r\n", .integer(.min)), (":9223372036854775807\r\n", .integer(.max)),
            ("$0\r\n\r\n", .bulk([])), ("$5\r\n\r\n\r\n!\r\n", .bulk(Array("\r\n\r\n!".utf8))), ("$-1\r\n", .null),
            ("*-1\r\n", .null), ("*0\r\n", .array([])),
            ("*3\r\n*0\r\n*1\r\n:1\r\n$-1\r\n", .array([.array([]), .array([.integer(1)]), .null])),
            (
                "*2\r\n*2\r\n:1\r\n*1\r\n+a\r\n-E x\r\n",
                .array([.array([.integer(1), .array([.status("a")])]), .error("E x")])
            ),
        ])
    func reply(bytes: String, value: RedisValue) {
        #expect(reader().read(bytes + bytes).replies == [value, value])
        let halved = reader()
        for cut in 1..<bytes.utf8.count {
            let first = halved.read(String(decoding: bytes.utf8.prefix(cut), as: UTF8.self))
            #expect(first.replies.isEmpty && first.error == nil)
            #expect(halved.read(String(decoding: bytes.utf8.dropFirst(cut), as: UTF8.self)).replies == [value])
        }
        let single = reader()
        for byte in bytes.utf8.dropLast() {
            #expect(single.read(String(decoding: [byte], as: UTF8.self)).replies == [])
        }
        #expect(single.read("\n").replies == [value])
    }

    @Test("whatever Redis may say comes out as it went in, however it is cut")
    func randomReplies() {
        randomised("replies") { random in
            for _ in 0..<300 {
                let values = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    RedisValue.random(depth: 8, using: &random)
                }
                var rest = Array(values.map(\.encoded).joined().utf8)[...]
                let reader = RESPReader(maximumReplyBytes: 64 << 20)
                var read: [RedisValue] = []
                while !rest.isEmpty {
                    let most = Bool.random(using: &random) ? 7 : 40_000
                    let piece = rest.prefix(Int.random(in: 1...most, using: &random))
                    rest = rest.dropFirst(piece.count)
                    read += reader.read(ByteBuffer(bytes: piece)).replies
                }
                #expect(read == values)
            }
        }
    }

    @Test(
        "bytes that are no reply of RESP2 are an error, and stay one",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "\r\n", ":1x\r\n", ":\r\n", ":99999999999999999999\r\n", "*x\r\n",
            "*-2\r\n", "$-2\r\n", "$x\r\n", "*1\r\n!", "*99999999999999999999\r\n",
            "_\r\n", "#t\r\n", ",1.5\r\n", "(12345678901234567890\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n",
            ">2\r\n+a\r\n+b\r\n", "=7\r\ntxt:abc\r\n", "*1\r\n#t\r\n", "*1\r\n,1\r\n", "*1\r\n%0\r\n",
            String(repeating: "*1\r\n", count: 8) + "*1\r\n:1\r\n", String(repeating: "*1\r\n", count: 8) + "*0\r\n",
        ])
    func noReply(bytes: String) {
        check(bytes)
    }

    /// Not as arguments, which the log of the tests would repeat.
    @Test("so are bytes that are too many for one reply")
    func tooLong() {
        check("*1000000\r\n" + String(repeating: ":1\r\n", count: 300_000))
        check("$9000000\r\n" + String(repeating: "x", count: 1_200_000))
        check("+" + String(repeating: "1", count: 1_200_000))
    }

    private func check(_ bytes: String) {
        let reader = reader()
        #expect(reader.read("+OK\r\n" + bytes).replies == [.status("OK")])
        #expect(reader.read("+OK\r\n").error?.code == .protocolError)
    }

    @Test("arrays nest eight deep; a claim of many elements takes no memory, and many small replies are no large one")
    func limits() {
        let eight = reader().read(String(repeating: "*1\r\n", count: 8) + ":1\r\n")
        #expect(eight.replies == [(0..<8).reduce(.integer(1)) { value, _ in .array([value]) }])
        let claim = reader().read("*2000000000\r\n:1\r\n")
        #expect(claim.replies.isEmpty && claim.error == nil)
        #expect(reader().read(String(repeating: ":1\r\n", count: 500_000)).error == nil)
    }

    @Test("a payload that is kept is not overwritten by the next, and whoever has enough gets no more")
    func payloads() {
        let words = (0..<100).map { "payload \($0)" }
        let bytes = words.map { RedisValue.array([.text("message"), .text("c"), .text($0)]).encoded }.joined()
        var payloads: [ByteBuffer] = []
        let error = reader().feed(ByteBuffer(string: bytes)) {
            if let push = $0.push { payloads.append(push.payload) }
            return payloads.count < 60
        }
        #expect(error == nil && payloads.map { String(buffer: $0) } == Array(words.prefix(60)))
    }

    // MARK: Values and errors

    /// Regression: such a reply to TIME ended the worker.
    @Test("a time that does not fit is no time")
    func time() {
        func time(_ seconds: Int64, _ microseconds: Int64) -> Timestamp? {
            Timestamp(redisTime: .array([.integer(seconds), .integer(microseconds)]))
        }
        #expect(time(1_753_600_000, 123_456) == Timestamp(milliseconds: 1_753_600_000_123))
        for number in [Int64.min, -1, Int64.max / 1000, Int64.max] {
            #expect(time(number, 999_999) == nil && time(0, number) == nil, "\(number)")
        }
        #expect(time(0, 1_000_000) == nil)
    }

    @Test(
        "an error has a kind and a sentence, without arguments",
        arguments: [
            ("READONLY You can't write.", "READONLY", "You can't write."), ("ERR", "ERR", ""),
            ("ERR unknown command 'FOO', with args beginning with: 'secret' ", "ERR", "unknown command 'FOO'"),
            (
                "ERR Error running script (call to f_12ab): @user_script:1: @user_script: 1: -READONLY You can't.",
                "READONLY", "You can't."
            ),
            (
                "ERR Error running script (call to f_12ab): @user_script:1: user_script:1: attempt to index a nil",
                "ERR", "Error running script (call to f_12ab): @user_script:1: user_script:1: attempt to index a nil"
            ),
        ])
    func error(line: String, kind: String, message: String) {
        let error = RedisError(reply: ByteString(line), command: "GET")
        #expect(error.code == .server(kind: ByteString(kind)))
        #expect(error.reply?.string == (message.isEmpty ? kind : "\(kind) \(message)"))
    }

    /// Regression: a worker of a cluster that was down continued to read, and reported that Redis refused writes.
    @Test("errors of a Redis that refuses writes, and of one that also refuses reads, had no effect")
    func refusals() {
        for kind: ByteString in [
            "MISCONF", "NOREPLICAS", "OOM", "READONLY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED",
        ] {
            let error = RedisError(.server(kind: kind), "")
            #expect(
                error.hadNoEffect && error.refusesWrites == ["MISCONF", "NOREPLICAS", "OOM", "READONLY"].contains(kind))
        }
    }

    private func reader() -> RESPReader { RESPReader(maximumReplyBytes: 1 << 20) }
}

extension RESPReader {
    func read(_ text: String) -> (replies: [RedisValue], error: RedisError?) { read(ByteBuffer(string: text)) }

    /// Returns the completed replies.
    func read(_ bytes: ByteBuffer) -> (replies: [RedisValue], error: RedisError?) {
        var replies: [RedisValue] = []
        let error = feed(bytes) {
            replies.append($0.tree)
            return true
        }
        return (replies, error)
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

extension RedisValue {
    /// The reply as Redis writes it.
    fileprivate var encoded: String {
        switch self {
        case .status(let text): "+\(text)\r\n"
        case .error(let error): "-\(error)\r\n"
        case .integer(let number): ":\(number)\r\n"
        case .bulk(let bytes): "$\(bytes.count)\r\n\(String(decoding: bytes, as: UTF8.self))\r\n"
        case .array(let elements): "*\(elements.count)\r\n" + elements.map(\.encoded).joined()
        case .null: "$-1\r\n"
        }
    }

    /// A random value with arrays nested at most `depth` deep.
    fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> RedisValue {
        func word() -> String {
            let letters = "abcdefghijklmnopqrstuvwxyz$*:+-0123456789 é…👋"
            return String(
                (0..<Int.random(in: 1...30, using: &random)).map { _ in letters.randomElement(using: &random)! })
        }
        return switch Int.random(in: 0...(depth > 0 ? 7 : 4), using: &random) {
        case 0: .status(ByteString(word()))
        case 1: .error(ByteString("ERR \(word())"))
        case 2: .integer(.random(in: .min ... .max, using: &random))
        case 3: .null
        case 4: text(String(repeating: word() + "\r\n", count: .random(in: 0...20, using: &random)))
        default:
            .array((0..<Int.random(in: 0...6, using: &random)).map { _ in .random(depth: depth - 1, using: &random) })
        }
    }
}
