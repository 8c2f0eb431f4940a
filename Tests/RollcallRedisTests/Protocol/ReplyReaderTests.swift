import NIOCore
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct ReplyReaderTests {
    private func makeReader(maximumReplyBytes: Int = 1 << 20) -> RESPReader {
        RESPReader(maximumReplyBytes: maximumReplyBytes)
    }

    @Test(arguments: [
        ("+OK\r\n", RedisValue.status("OK")),
        ("+\r\n", .status("")),
        ("-READONLY You can't write.\r\n", .error("READONLY You can't write.")),
        (":0\r\n", .integer(0)),
        (":-9223372036854775808\r\n", .integer(.min)),
        (":9223372036854775807\r\n", .integer(.max)),
        ("$0\r\n\r\n", .bulk([])),
        ("$5\r\n\r\n\r\n!\r\n", .bulk(Array("\r\n\r\n!".utf8))),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        ("*0\r\n", .array([])),
        ("*3\r\n*0\r\n*1\r\n:1\r\n$-1\r\n", .array([.array([]), .array([.integer(1)]), .null])),
        (
            "*2\r\n*2\r\n:1\r\n*1\r\n+a\r\n-E x\r\n",
            .array([.array([.integer(1), .array([.status("a")])]), .error("E x")])
        ),
    ])
    func `a reply is read whole, in halves, and byte by byte`(bytes: String, value: RedisValue) {
        #expect(makeReader().read(bytes + bytes).replies == [value, value])

        let halved = makeReader()
        for cut in 1..<bytes.utf8.count {
            let first = halved.read(String(decoding: bytes.utf8.prefix(cut), as: UTF8.self))
            #expect(first.replies.isEmpty && first.error == nil)
            #expect(halved.read(String(decoding: bytes.utf8.dropFirst(cut), as: UTF8.self)).replies == [value])
        }

        let single = makeReader()
        for byte in bytes.utf8.dropLast() {
            #expect(single.read(String(decoding: [byte], as: UTF8.self)).replies == [])
        }
        #expect(single.read("\n").replies == [value])
    }

    @Test func `whatever Redis may say comes out as it went in, however it is cut`() {
        randomised("replies") { random in
            for _ in 0..<300 {
                let values = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    RedisValue.random(depth: 8, using: &random)
                }
                var rest = Array(values.map(\.encoded).joined().utf8)[...]
                let reader = makeReader(maximumReplyBytes: 64 << 20)
                var read: [RedisValue] = []
                while !rest.isEmpty {
                    let piece = rest.prefix(
                        Int.random(in: 1...(Bool.random(using: &random) ? 7 : 40_000), using: &random))
                    rest = rest.dropFirst(piece.count)
                    let error = reader.feed(ByteBuffer(bytes: piece)) {
                        read.append($0.tree)
                        return true
                    }
                    #expect(error == nil)
                }
                #expect(read == values)
            }
        }
    }

    @Test func `a bulk string far larger than a slice arrives whole`() {
        let value = RedisValue.bulk((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let reader = makeReader(maximumReplyBytes: 2 << 20)
        var replies: [RedisValue] = []
        var bytes = ByteBuffer(string: "$1000000\r\n")
        if case .bulk(let content) = value { bytes.writeBytes(content) }
        bytes.writeString("\r\n+OK\r\n")
        let error = reader.feed(bytes) {
            replies.append($0.tree)
            return true
        }
        #expect(error == nil)
        #expect(replies == [value, .status("OK")])
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n", "\r\n", ":1x\r\n", ":\r\n", ":99999999999999999999\r\n", "*x\r\n", "*-2\r\n",
        "$-2\r\n", "$x\r\n", "*1\r\n!", "*99999999999999999999\r\n",
    ])
    func `bytes that are no reply are an error, and stay one`(bytes: String) {
        let reader = makeReader()
        #expect(reader.read("+OK\r\n" + bytes).replies == [.status("OK")])
        #expect(reader.read("+OK\r\n").error?.code == .protocolError)
        #expect(makeReader().read(bytes).error?.code == .protocolError)
    }

    @Test(arguments: [
        "_\r\n", "#t\r\n", ",1.5\r\n", "(12345678901234567890\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n",
        ">2\r\n+a\r\n+b\r\n", "=7\r\ntxt:abc\r\n", "*1\r\n#t\r\n", "*1\r\n,1\r\n", "*1\r\n%0\r\n",
    ])
    func `values that only RESP3 has are an error, whichever hiredis reads`(bytes: String) {
        let read = makeReader().read(bytes)
        #expect(read.replies.isEmpty)
        #expect(read.error?.code == .protocolError)
    }

    @Test func `arrays nest eight deep, and not nine`() {
        let eight = makeReader().read(String(repeating: "*1\r\n", count: 8) + ":1\r\n")
        #expect(eight.error == nil)
        #expect(eight.replies == [(0..<8).reduce(.integer(1)) { value, _ in .array([value]) }])

        for end in ["*1\r\n:1\r\n", "*0\r\n", "*-1\r\n"] {
            let nine = makeReader().read(String(repeating: "*1\r\n", count: 8) + end)
            #expect(nine.replies.isEmpty)
            #expect(nine.error?.code == .protocolError)
        }
    }

    @Test func `a claim of two thousand million elements takes no memory`() {
        let read = makeReader().read("*2000000000\r\n:1\r\n")
        #expect(read.replies.isEmpty)
        #expect(read.error == nil)
    }

    @Test(arguments: [
        "*1000000\r\n" + String(repeating: ":1\r\n", count: 100_000),
        "$9000000\r\n" + String(repeating: "x", count: 300_000),
        "+" + String(repeating: "1", count: 300_000),
    ])
    func `a reply larger than the limit is an error, and many small ones are not`(bytes: String) {
        let reader = makeReader(maximumReplyBytes: 256 * 1024)
        let small = String(repeating: ":1\r\n", count: 10_000)
        #expect(reader.read(small).error == nil)
        #expect(reader.read(bytes).error?.code == .protocolError)
    }

    @Test func `a payload that is kept is not overwritten by the next`() {
        let words = (0..<100).map { "payload \($0)" }
        let bytes = words.map { RedisValue.array([.text("message"), .text("c"), .text($0)]).encoded }.joined()
        var payloads: [ByteBuffer] = []
        let error = makeReader().feed(ByteBuffer(string: bytes)) {
            if let push = $0.push { payloads.append(push.payload) }
            return true
        }
        #expect(error == nil && payloads.map { String(buffer: $0) } == words)
    }

    @Test func `whoever has enough gets no more`() {
        var taken = 0
        let error = makeReader().feed(ByteBuffer(string: "+1\r\n+2\r\n+3\r\n")) { _ in
            taken += 1
            return taken < 2
        }
        #expect(error == nil)
        #expect(taken == 2)
    }
}

extension RedisValue {
    /// A random value with arrays nested at most `depth` deep.
    fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> RedisValue {
        switch Int.random(in: 0...(depth > 0 ? 7 : 4), using: &random) {
        case 0: .status(word(using: &random))
        case 1: .error("ERR " + word(using: &random))
        case 2: .integer(.random(in: .min ... .max, using: &random))
        case 3: .null
        case 4: text(String(repeating: word(using: &random) + "\r\n", count: .random(in: 0...20, using: &random)))
        default:
            .array((0..<Int.random(in: 0...6, using: &random)).map { _ in .random(depth: depth - 1, using: &random) })
        }
    }

    private static func word(using random: inout SeededGenerator) -> String {
        let letters = "abcdefghijklmnopqrstuvwxyz$*:+-0123456789 é…👋"
        return String((0..<Int.random(in: 1...30, using: &random)).map { _ in letters.randomElement(using: &random)! })
    }
}
