import RollcallModel
import Testing

@testable import RollcallRedis

@Suite struct RedisValueTests {
    @Test func `a value is as large as a string`() {
        #expect(MemoryLayout<RedisValue>.size <= 17)
    }

    @Test func `text and numbers come out of whatever form Redis chose`() {
        #expect(RedisValue.text("é").string == "é")
        #expect(RedisValue.status("OK").string == "OK")
        #expect(RedisValue.bulk([0xFF]).string == nil)
        #expect(RedisValue.integer(1).string == nil)
        #expect(RedisValue.text("-12").integer == -12)
        #expect(RedisValue.integer(7).integer == 7)
        #expect(RedisValue.text("1.5").integer == nil)
        #expect(RedisValue.array([.null]).array == [.null])
        #expect(RedisValue.null.array == nil)
        #expect(RedisValue.null.isNull)
        #expect(!RedisValue.array([]).isNull)
    }

    /// Regression: such a reply to TIME ended the worker.
    @Test func `a time that does not fit is no time`() {
        func time(_ seconds: Int64, _ microseconds: Int64) -> Timestamp? {
            Timestamp(redisTime: .array([.integer(seconds), .integer(microseconds)]))
        }
        #expect(time(1_753_600_000, 123_456) == Timestamp(milliseconds: 1_753_600_000_123))
        #expect(time(0, 0) == Timestamp(milliseconds: 0))
        let far = [Int64.min, -1, Int64.max / 1000, Int64.max]
        for number in far { #expect(time(number, 999_999) == nil && time(0, number) == nil, "\(number)") }
        #expect(time(0, 1_000_000) == nil)
    }

    @Test(arguments: [
        ("READONLY You can't write.", "READONLY", "You can't write."),
        ("ERR", "ERR", ""),
        ("ERR unknown command 'FOO', with args beginning with: 'secret' ", "ERR", "unknown command 'FOO'"),
        (
            "ERR Error running script (call to f_12ab): @user_script:1: @user_script: 1: -READONLY You can't write.",
            "READONLY", "You can't write."
        ),
        (
            "ERR Error running script (call to f_12ab): @user_script:1: user_script:1: attempt to index a nil value",
            "ERR", "Error running script (call to f_12ab): @user_script:1: user_script:1: attempt to index a nil value"
        ),
    ])
    func `an error has a kind and a sentence, without arguments`(line: String, kind: String, message: String) {
        let error = RedisError(reply: line, command: "GET")
        #expect(error.code == .server(kind: kind))
        #expect(error.reply == (message.isEmpty ? kind : "\(kind) \(message)"))
    }
}
