// What counts as JSON, and how it is read.

import Foundation
import RollcallProtocol
import Testing

@Suite struct JSONReadingTests {
    private func isJSON(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { JSONValue(object: $0) != nil } }

    /// Reads this value as a field `x`.
    private func read<Value: JSONReadable>(_ value: String, as type: Value.Type = Value.self) throws -> Value {
        try Array(#"{"x":\#(value)}"#.utf8).withUnsafeBytes { try #require(JSONValue(object: $0)).field("x") }
    }

    @Test(
        "a number is whole by its value, however it is written",
        arguments: [
            ("0", 0), ("-0", 0), ("-0.0", 0), ("0e99999999999999999999", 0), ("0.000e-5", 0), ("3000", 3000),
            ("3000.0", 3000), ("3e3", 3000), ("0.03E+5", 3000), ("30000e-1", 3000), ("-3000.000e-0", -3000),
            ("9007199254740991", 9_007_199_254_740_991), ("9007199254740993.0", 1 << 53),
            ("9223372036854775807", 1 << 53), ("-9223372036854775808", -1 << 53), ("92233720368547758.07e2", 1 << 53),
            ("1" + String(repeating: "0", count: 5000) + "e-4999", 10),
            ("0." + String(repeating: "0", count: 5000) + "1e5002", 10),
        ] as [(String, Int64)])
    func whole(text: String, number: Int64) throws {
        #expect(try read(text) == number)
    }

    @Test(
        "a number with a fraction, or one that is too large, is not a whole number",
        arguments: [
            "0.5", "-1e-1", "1.0000000000000000000001", "1e-400", "9223372036854775808", "-9223372036854775809", "1e19",
            "1e999999999999999999999", "-1e-999999999999999999999", String(repeating: "9", count: 100_000),
        ])
    func notWhole(text: String) {
        #expect(throws: UnexpectedJSON.self) { try read(text, as: Int64.self) }
    }

    @Test("a numeric id of any size or precision loses no more than a Double does")
    func ids() throws {
        #expect(try read("0.1") == MessageID.number(0.1))
        #expect(try read("1e300") == MessageID.number(1e300))
        #expect(try read("1e-400") == MessageID.integer(0))
        #expect(try read("18446744073709551616") == MessageID.number(18_446_744_073_709_551_616))
        for text in ["1e999", "-1e999", String(repeating: "9", count: 100_000)] {
            #expect(throws: UnexpectedJSON.self) { try read(text, as: MessageID.self) }
        }
    }

    @Test("escapes are decoded")
    func escapes() throws {
        let escaped = #""\"\\\/\b\f\n\r\t\u0000\u00e9\u2028\uD83D\uDE00\uFFFF""#
        #expect(try read(escaped) == "\"\\/\u{8}\u{c}\n\r\t\u{0}é\u{2028}😀\u{ffff}")
        for names in [#"{"\u0078\u0079":1,"xy":2}"#, #"{"\u0078y":1,"xy":2}"#, #"{"\u0078yz":3,"\/":4,"xy":1}"#] {
            let number: Int64? = try Array(names.utf8).withUnsafeBytes { try JSONValue(object: $0)?.field("xy") }
            #expect(number == 1)
        }
    }

    @Test(
        "half of a surrogate pair is JSON, but not valid text",
        arguments: [#""\ud83d""#, #""\ude00""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\ud83d""#, #""\ud83d\u0041""#])
    func halfSurrogates(text: String) throws {
        #expect(throws: UnexpectedJSON.self) { try read(text, as: ByteString.self) }
        let codec = MessageCodec()
        let error = #expect(throws: MessageError.self) {
            try codec.request(from: #"{"type":"leave","id":1,"conversation":\#(text)}"#.utf8)
        }
        #expect(error?.code == .badRequest && error?.id == .integer(1))
        #expect(try codec.request(from: #"{"type":"ping",\#(text):\#(text)}"#.utf8) == ClientRequest(.ping))
    }

    @Test("of fields with the same name the first counts")
    func doubled() throws {
        let request = try MessageCodec().request(from: #"{"id":1,"type":"ping","\u0069d":2,"type":"goodbye"}"#.utf8)
        #expect(request == ClientRequest(.ping, id: .integer(1)))
    }

    @Test("a byte order mark and white space around the object are ignored")
    func around() {
        #expect(isJSON("\u{feff} \t\r\n{}\n"))
        #expect(!isJSON(" \u{feff}{}"))
    }

    @Test(
        "what only resembles JSON is refused, in any position",
        arguments: [
            #"{"a":01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":0x1}"#, #"{"a":NaN}"#,
            #"{"a":-}"#, #"{"a":tru}"#, #"{"a":True}"#, #"{"a":nul}"#, #"{"a":'b'}"#, #"{a:1}"#, #"{"a" 1}"#,
            #"{"a":}"#,
            #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{"a":[1,]}"#, #"{"a":[1}"#, #"{"a":[1]]}"#, #"{"a":{]}"#,
            #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\u12"}"#, #"{"a":"\"}"#, "{\"a\":\"\u{1}\"}", "{\"a\":\"\n\"}",
            "{\"a\":\"\u{0}\"}", "{}\u{0}", "{\u{0}}", "{\u{a0}}", "{}{}", "{}//", "/**/{}", "{\u{7f}}", #"{"a":1"#,
            #"{"a"#,
        ])
    func nearly(text: String) {
        #expect(!isJSON(text))
    }

    @Test("bytes that are not UTF-8 are not JSON, in any position")
    func notUTF8() {
        let broken: [[UInt8]] = [
            [0xFF], [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3],
            [0xE2, 0x82],
        ]
        for bytes in broken {
            let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(throws: MessageCodec.NotJSON.self) { try MessageCodec().request(from: text) }
            #expect(throws: MessageCodec.NotJSON.self) { try MessageCodec().request(from: Array("{}".utf8) + bytes) }
        }
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let text = #"{"type":"ping"}"#.data(using: encoding)!
            #expect(throws: MessageCodec.NotJSON.self) { try MessageCodec().request(from: text) }
        }
    }
}
