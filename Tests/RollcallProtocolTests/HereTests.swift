// What a session shows where it is here: any JSON object, as it was sent but for space between tokens.

import RollcallProtocol
import Testing

@Suite struct HereTests {
    @Test(
        "data is kept as it was sent, but for space between tokens",
        arguments: [
            ("{ }", "{}"), ("{\n\t\"a b\" :\r\n [ 1 , 2.50 , { } ] }", #"{"a b":[1,2.50,{}]}"#),
            (#"{"a":"\\\" \t ","a":1e400,"\ud800":null}"#, #"{"a":"\\\" \t ","a":1e400,"\ud800":null}"#),
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
        "what is no object, or is nested more than eight deep, is refused",
        arguments: ["[]", "1", #""x""#, "true", nested(9)])
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
        let text = #"{"user":"bob","here":true,"since":5,"idle":false,"data":[1],"count":1,"at":6}"#
        let change = try HereChange(jsonText: text.utf8)
        #expect(change.here == HereUser(user: try UserID("bob"), since: Timestamp(milliseconds: 5)))
        #expect(HereLine("phone\tw1\taa\t1\tactive\t\t{\"cut")?.content == .init())
        #expect(HereLine("phone\tw1\taa\t1\tactive\t") == nil && HereLine("") == nil)
    }
}

private func nested(_ depth: Int) -> String {
    String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
}
