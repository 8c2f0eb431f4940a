// Names are compared by their bytes.

import Foundation
import RollcallProtocol
import Testing

@Suite struct IdentifierTests {
    @Test("composed and decomposed letters are two names, in every collection")
    func bytesNotCanonicalEquivalence() {
        let composed = user("caf\u{e9}")
        let decomposed = user("cafe\u{301}")
        #expect(composed.text == decomposed.text, "Swift's strings do not tell them apart")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect([composed: 1, decomposed: 2][decomposed] == 2)
        #expect(decomposed < composed, "0x65 comes before 0xC3")
    }

    @Test(
        "letters, digits, symbols and emoji of any script are permitted in a name",
        arguments: ["a", "alice@example.com", "c:42/7", "李雷", "مريم", "👩‍👩‍👧", "\"\\", String(repeating: "x", count: 128)])
    func allowed(text: String) throws {
        #expect(try UserID(text).text == text)
    }

    @Test(
        "what breaks a rule is refused with the rule",
        arguments: [
            ("", .empty), (String(repeating: "x", count: 129), .tooLong), (String(repeating: "é", count: 65), .tooLong),
            ("a b", .whiteSpace), ("a\u{a0}b", .whiteSpace), ("a\u{2003}", .whiteSpace), ("\u{3000}", .whiteSpace),
            ("a\nb", .control), ("\u{0}", .control), ("a\u{7f}", .control), ("a\u{85}", .control),
            ("{a", .brace), ("a}", .brace),
        ] as [(String, InvalidIdentifier.Reason)])
    func refused(text: String, reason: InvalidIdentifier.Reason) {
        let error = #expect(throws: InvalidIdentifier.self) { try ConversationID(text) }
        #expect(error?.reason == reason)
    }

    @Test("a substring or a bridged string makes the same name as a copy of it")
    func contiguous() throws {
        let whole = "xxaliceyy"
        let part = String(whole.dropFirst(2).dropLast(2))
        #expect(try UserID(part) == user("alice"))
        #expect(try UserID(part).hashValue == user("alice").hashValue)
    }

    @Test("a name is encoded as a plain JSON string")
    func coding() throws {
        let names = [user("cafe\u{301}"), user("caf\u{e9}")]
        let json = try JSONEncoder().encode(names)
        #expect(try JSONDecoder().decode([UserID].self, from: json) == names)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([UserID].self, from: Data(#"["a b"]"#.utf8)) }
    }
}
