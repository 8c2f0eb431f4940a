// Messages to text and back, for both ends.

import Foundation
import RollcallProtocol
import Testing

@Suite struct CodecTests {
    private let codec = MessageCodec()

    @Test("a client's message is written and read as on the wire", arguments: Golden.requests.indices)
    func goldenRequests(index: Int) throws {
        let (frame, request) = Golden.requests[index]
        #expect(String(decoding: codec.json(of: request), as: UTF8.self) == frame)
        #expect(try codec.request(from: Data(frame.utf8)) == request)
    }

    @Test("a worker's message is written and read as on the wire", arguments: Golden.messages.indices)
    func goldenMessages(index: Int) throws {
        let (frame, message) = Golden.messages[index]
        #expect(String(decoding: codec.json(of: message), as: UTF8.self) == frame)
        #expect(try codec.message(from: Data(frame.utf8)) == message)
    }

    @Test("the known parts of a later version's message are used", arguments: Golden.laterMessages.indices)
    func laterMessages(index: Int) throws {
        let (frame, message) = Golden.laterMessages[index]
        #expect(try codec.message(from: Data(frame.utf8)) == message)
    }

    @Test("an error of a later version says whether to retry", arguments: [true, false])
    func laterError(retry: Bool) throws {
        let frame = #"{"type":"error","code":"full_moon","message":"m","retry":\#(retry)}"#
        guard case .error(let error) = try codec.message(from: Data(frame.utf8)) else {
            return #expect(Bool(false), "no error")
        }
        #expect(error.retry == retry)
        #expect(error.code.rawValue == "full_moon")
    }

    @Test("missing fields have their defaults, and unknown ones are ignored")
    func defaultsAndUnknownFields() throws {
        let hello = #"{ "type":"hello", "token":"t", "colour":{"deep":[1,2]}, "id":null }"#
        #expect(
            try codec.request(from: Data(hello.utf8)) == ClientRequest(.hello(.init(token: "t", device: nil))))
        let typing = #"{"type":"typing","conversation":"c","users":[{"user":"a","hat":true}],"count":1,"mood":"x"}"#
        let expected = ServerMessage.Typing(
            conversation: conversation("c"), users: [Typist(user: user("a"))], count: 1)
        #expect(try codec.message(from: Data(typing.utf8)) == .typing(expected))
    }

    @Test(
        "an object that is not a message gets an error with its id",
        arguments: [
            (#"{}"#, MessageError.Code.badRequest, nil),
            (#"{"id":7}"#, .badRequest, .integer(7)),
            (#"{"type":5,"id":7}"#, .badRequest, .integer(7)),
            (#"{"type":null,"id":"a"}"#, .badRequest, .text("a")),
            (#"{"type":"dance","id":"a"}"#, .unknownType, .text("a")),
            (#"{"type":"HELLO"}"#, .unknownType, nil),
            (#"{"type":"hello","id":1}"#, .badRequest, .integer(1)),
            (#"{"type":"hello","token":"t","device":"a b","id":1}"#, .badRequest, .integer(1)),
            (#"{"type":"hello","token":"t","state":"gone","id":1}"#, .badRequest, .integer(1)),
            (#"{"type":"watch","users":"bob"}"#, .badRequest, nil),
            (#"{"type":"watch","users":["bob",""]}"#, .badRequest, nil),
            (#"{"type":"watch","users":["{b}"]}"#, .badRequest, nil),
            (#"{"type":"join","conversation":null}"#, .badRequest, nil),
            (#"{"type":"join","conversation":"c","presence":"yes"}"#, .badRequest, nil),
            (#"{"type":"typing","conversation":"c"}"#, .badRequest, nil),
            (#"{"type":"typing","conversation":"c","typing":1}"#, .badRequest, nil),
            (#"{"type":"ping","id":{}}"#, .badRequest, nil),
            (#"{"type":"ping","id":true}"#, .badRequest, nil),
            (#"{"type":"ping","id":1e999}"#, .badRequest, nil),
        ] as [(String, MessageError.Code, MessageID?)])
    func badRequests(text: String, code: MessageError.Code, id: MessageID?) throws {
        let error = try #require(throws: MessageError.self) { try codec.request(from: Data(text.utf8)) }
        #expect(error.code == code)
        #expect(error.id == id)
        #expect(!error.message.isEmpty)
        #expect(!error.retry)
    }

    @Test("an id may have up to 64 bytes")
    func idLength() throws {
        let longest = String(repeating: "é", count: 32)
        let ping = try codec.request(from: Data(#"{"type":"ping","id":"\#(longest)"}"#.utf8))
        #expect(ping.id == .text(ByteString(longest)))
        let error = try #require(throws: MessageError.self) {
            try codec.request(from: Data(#"{"type":"ping","id":"\#(longest)x"}"#.utf8))
        }
        #expect(error.code == .badRequest)
        #expect(error.id == nil)
    }

    @Test(
        "text that is not a JSON object is distinguished from a wrong message",
        arguments: [
            "", " ", "{", "}", "nonsense", "[]", #"[{"type":"ping"}]"#, "1", "null", "true", #""ping""#,
            #"{"type":"ping""#, #"{"type":"ping"} x"#, "{'type':'ping'}",
            String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 10_000),
        ])
    func notJSON(text: String) {
        #expect(throws: MessageCodec.NotJSON.self) { try codec.request(from: Data(text.utf8)) }
    }

    @Test("an id whose fraction is lost in reading is returned as it was read")
    func hugeFraction() throws {
        let request = try codec.request(from: Data(#"{"type":"ping","id":44444444444444444.44444444}"#.utf8))
        #expect(try codec.request(from: codec.json(of: request)) == request)
    }

    @Test("bytes that are not UTF-8 are not JSON")
    func notUTF8() {
        #expect(throws: MessageCodec.NotJSON.self) { try codec.request(from: Data([0x7B, 0xFF, 0xFE, 0x7D])) }
    }

    @Test("a client ignores unknown parts of a worker's message")
    func unknownServerMessages() {
        for text in [#"{"type":"fireworks"}"#, #"{"time":1}"#, "[]", "x", #"{"type":"pong","time":"noon"}"#] {
            #expect(throws: UnexpectedJSON.self) { try codec.message(from: Data(text.utf8)) }
        }
    }

    @Test("a kind that is not known counts as typing, which is not written")
    func kinds() throws {
        let c = try ConversationID("c")
        for (word, kind) in [("\"recording\"", TypingKind.recording), ("\"dancing\"", .typing), ("null", .typing)] {
            let text = #"{"type":"typing","conversation":"c","typing":true,"kind":\#(word)}"#
            #expect(try codec.request(from: Data(text.utf8)).message == .typing(c, true, kind: kind))
            let told = #"{"type":"typing","conversation":"c","users":[{"user":"a","kind":\#(word)}],"count":1}"#
            let typing = ServerMessage.Typing(
                conversation: c, users: [Typist(user: try UserID("a"), kind: kind)], count: 1)
            #expect(try codec.message(from: Data(told.utf8)) == .typing(typing))
        }
        let written = String(decoding: ClientRequest(.typing(c, true, kind: .thinking)).jsonText, as: UTF8.self)
        #expect(written == #"{"conversation":"c","kind":"thinking","type":"typing","typing":true}"#)
        #expect(!String(decoding: ClientRequest(.typing(c, true)).jsonText, as: UTF8.self).contains("kind"))
    }
}

/// What a session shows where it is here: any JSON object, as it was sent but for space between tokens.
@Suite struct HereDataTests {
    @Test(
        "data is kept as it was sent, but for space between tokens",
        arguments: [
            ("{ }", "{}"), ("{\n\t\"a b\" :\r\n [ 1 , 2.50 , { } ] }", #"{"a b":[1,2.50,{}]}"#),
            (#"{"a":"\\\" \t ","\ud83d\ude00":1e300}"#, #"{"a":"\\\" \t ","\ud83d\ude00":1e300}"#),
            ("{\"cafe\u{301}\" : \"é\u{2028}\u{7F}\"}", "{\"cafe\u{301}\":\"é\u{2028}\u{7F}\"}"),
        ])
    func kept(sent: String, kept: String) throws {
        let request = try MessageCodec().request(
            from: Array(#"{"type":"enter","conversation":"c","data":\#(sent)}"#.utf8))
        guard case .enter(_, let data?) = request.message else { return #expect(Bool(false), "no data") }
        #expect(Array(data.text.string.utf8) == Array(kept.utf8))
        #expect(HereData(stored: data.text) == data)
    }

    @Test(
        "what is no object, is nested more than eight deep, or breaks the parsers of others, is refused",
        arguments: [
            "[]", "1", #""x""#, "true", nested(9), #"{"x":"\ud800"}"#, #"{"x":["a\udc00b"]}"#, #"{"\udbff":1}"#,
            #"{"x":1e400}"#, #"{"x":[-1e309]}"#,
        ])
    func refused(data: String) {
        #expect(throws: MessageError.self) {
            try MessageCodec().request(from: Array(#"{"type":"enter","conversation":"c","data":\#(data)}"#.utf8))
        }
        #expect(HereData(stored: ByteString(data)) == nil)
    }

    @Test("eight deep is not too deep, and null is no data")
    func allowed() throws {
        let deep = try MessageCodec().request(
            from: Array(#"{"type":"enter","conversation":"c","data":\#(nested(8))}"#.utf8))
        #expect(deep.message == .enter(try ConversationID("c"), data: HereData(stored: ByteString(nested(8)))))
        let none = try MessageCodec().request(from: Array(#"{"type":"enter","conversation":"c","data":null}"#.utf8))
        #expect(none.message == .enter(try ConversationID("c")))
    }

    @Test("a user whose data is broken is here without it")
    func broken() throws {
        let text =
            #"{"user":"bob","here":true,"since":5,"idle":false,"data":[1],"count":1,"at":6,"sessions":1,"exit":false}"#
        let change = try HereChange(jsonText: text.utf8)
        #expect(change.here == HereUser(user: try UserID("bob"), since: Timestamp(milliseconds: 5)))
        #expect(HereLine("phone\tw1\taa\t1\tactive\t\t{\"cut")?.content == .init())
        #expect(HereLine("phone\tw1\taa\t1\tactive\t") == nil && HereLine("") == nil)
    }
}

private func nested(_ depth: Int) -> String {
    String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
}
