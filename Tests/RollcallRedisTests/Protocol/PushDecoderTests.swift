import NIOCore
import Testing

@testable import RollcallRedis

@Suite struct PushDecoderTests {
    private func makeReader() -> ReplyReader<PushDecoder> {
        ReplyReader(PushDecoder(), maximumReplyBytes: 1 << 20)
    }

    private let all = """
        +OK\r
        +PONG\r
        *3\r\n$9\r\nsubscribe\r\n$3\r\na{b\r\n:1\r
        *3\r\n$7\r\nmessage\r\n$3\r\na{b\r\n$5\r\nhello\r
        *3\r\n$7\r\nmessage\r\n$3\r\na{b\r\n$0\r\n\r
        *2\r\n$4\r\npong\r\n$0\r\n\r
        -MISCONF full\r
        *3\r\n$11\r\nunsubscribe\r\n$3\r\na{b\r\n:0\r

        """
    private let channel = ByteBuffer(string: "a{b")

    private var expected: [Push] {
        [
            .status, .status, .subscribed(channel: channel),
            .message(channel: channel, payload: ByteBuffer(string: "hello")),
            .message(channel: channel, payload: ByteBuffer()),
            .pong, .failed(RedisServerError("MISCONF full")), .unsubscribed(channel: channel),
        ]
    }

    @Test func `each kind of push is read`() {
        let read = makeReader().read(all)
        #expect(read.error == nil)
        #expect(read.replies == expected)
    }

    @Test func `pushes are read byte by byte`() {
        let reader = makeReader()
        var pushes: [Push] = []
        for byte in all.utf8 { pushes += reader.read(String(decoding: [byte], as: UTF8.self)).replies }
        #expect(pushes == expected)
    }

    @Test func `a payload that somebody keeps is not overwritten by the next`() {
        let words = (0..<100).map { "payload \($0)" }
        let read = makeReader().read(
            words.map { RedisValue.array([.text("message"), .text("c"), .text($0)]).encoded }.joined())
        let payloads = read.replies.map { push -> String? in
            guard case .message(_, let payload) = push else { return nil }
            return String(buffer: payload)
        }
        #expect(payloads == words)
    }

    @Test(arguments: [
        ":1\r\n", "$2\r\nhi\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "*1\r\n$4\r\npong\r\n", "*4\r\n$8\r\npmessage\r\n",
        "*3\r\n$4\r\npong\r\n", "*2\r\n$7\r\nmessage\r\n", "*3\r\n$5\r\nhello\r\n", "*3\r\n:1\r\n",
        "*3\r\n+message\r\n",
        "*3\r\n$7\r\nmessage\r\n:1\r\n", "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n:1\r\n",
        "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$-1\r\n", "*3\r\n$7\r\nmessage\r\n*1\r\n",
        "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n$1\r\n1\r\n", "*3\r\n$9\r\nsubscribe\r\n$-1\r\n",
        "*3\r\n$9\r\nsubscribe\r\n-ERR inside\r\n", ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
    ])
    func `what no subscriber is sent is an error`(bytes: String) {
        let read = makeReader().read("+OK\r\n" + bytes)
        #expect(read.replies == [.status])
        #expect(read.error?.code == .protocolError)
    }
}
