// What a token says of its user, cleaned.

import Testing

@testable import RollcallProtocol

@Suite("Profiles") struct ProfileTests {
    @Test(
        "what no name needs goes, white space at both ends too, and the rest stays as it is",
        arguments: [
            ("Ada", "Ada"), (" Ada", "Ada"), ("Ada ", "Ada"), ("A\u{7F}da", "Ada"), ("~ Ada ~", "~ Ada ~"),
            (" \t\u{3000}Ada Lovelace\u{A0} ", "Ada Lovelace"), ("A\u{0}d\u{1B}[31ma\u{85}", "Ad[31ma"),
            ("A\u{2028}d\r\na\u{2029}", "Ada"), ("\u{202E}adA\u{202C}\u{2066}\u{2069}\u{200E}\u{61C}", "adA"),
            ("\u{200D}Ada", "\u{200D}Ada"), ("\u{1F469}\u{200D}\u{1F52C}", "\u{1F469}\u{200D}\u{1F52C}"),
            ("cafe\u{301}", "cafe\u{301}"),
            ("", nil), (" \u{2003}\n", nil), ("\u{202A}", nil),
        ] as [(String, String?)])
    func cleaned(text: String, shown: String?) {
        #expect(Profile(name: ByteString(text)).name == shown.map(ByteString.init))
        #expect(Profile(name: ByteString(text)).isEmpty == (shown == nil))
    }

    @Test("a long text is cut between characters, whatever its length, and one that is a single character goes")
    func cut() {
        let family = "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}"
        let cut = Profile(name: ByteString(String(repeating: family, count: 300))).name
        #expect(cut?.string == String(repeating: family, count: 128 / family.utf8.count))
        #expect(Profile(name: ByteString(String(repeating: "\u{E9}", count: 5000))).name?.utf8.count == 128)
        for length in [127, 128, 129] {
            let name = String(repeating: "a", count: length)
            #expect(Profile(name: ByteString(name)).name?.utf8.count == min(128, length))
            #expect(Profile(name: ByteString(name + "\u{301}")).name?.utf8.count == length - 1)
        }
        #expect(Profile(name: ByteString("a" + String(repeating: "\u{301}", count: 5000))).name == nil)
        #expect(Profile(name: ByteString(String(repeating: "ab ", count: 43))).name?.string.last == "b")
    }

    @Test("a field that is no text counts as absent in messages")
    func absent() throws {
        for value in ["7", "null", "{}", "[\"Ada\"]", "true"] {
            let json = #"{"user":"a","status":"online","last_seen":1,"updated_at":1,"version":1,"name":\#(value)}"#
            #expect(try Presence(jsonText: Array(json.utf8)).name == nil)
        }
    }
}
