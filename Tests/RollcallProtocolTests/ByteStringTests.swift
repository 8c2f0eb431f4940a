import Foundation
import TestSupport
import Testing

@testable import RollcallProtocol

@Suite("Text is bytes")
struct ByteStringTests {
    private let names = NastyNames.all

    @Test("Words are found by their bytes, whatever they begin or end with")
    func words() {
        for left in names {
            for right in names {
                let words = ByteString("\(left) \(right)").parts(at: " ")
                #expect(words.map { Array($0.utf8) } == [Array(left.utf8), Array(right.utf8)])
            }
        }
        #expect(("a  b " as ByteString).parts(at: " ") == ["a", "", "b", ""])
        #expect(("" as ByteString).parts(at: " ") == [""])
        let letters: ByteString = "a-b-c"
        #expect(letters.cut(at: "-")?.after == "b-c" && letters.cut(atLast: "-")?.before == "a-b")
        #expect(letters.cut(at: "+") == nil)
        #expect(("x:\u{301}" as ByteString).begins(with: "x:") && !("x" as ByteString).begins(with: "xy"))
    }

    @Test("a text is cut between scalars, and words are matched in any case, but only by ASCII letters")
    func cuts() {
        let text = ByteString("aé€👋" + String(repeating: "\u{301}", count: 40))
        #expect(text.excerpt.utf8.count == 64 && text.excerpt.unicodeScalars.count == 31)
        for (bytes, scalars) in [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (9, 3), (10, 4), (1000, 44)] {
            #expect(text.start(atMost: bytes).unicodeScalars.count == scalars, "\(bytes)")
        }
        #expect(("Bearer" as ByteString).isWord("bearer") && !("Bearer " as ByteString).isWord("bearer"))
        // U+212A, the sign for kelvin, is a K to Swift's `String`.
        #expect(!("\u{212A}" as ByteString).isWord("k") && DeviceState(word: "id\u{131}e") == nil)
        #expect(("\u{212A}" as ByteString) != "K" && DeviceState(word: "idle") == .idle)
    }

    @Test("A notice to a worker names the session that it was written for")
    func notices() throws {
        for name in names {
            let (user, device) = (try UserID(name), try DeviceID(name))
            let expected = SessionName(user: user, device: device, session: SessionID(random: "5f0c8e21a9b3d41"))
            for notice in [
                WorkerNotice.replaced(user: user, device: device, session: "17-5f0c8e21a9b3d41"),
                .sentAway(user: user, device: device, session: "17-5f0c8e21a9b3d41"),
            ] {
                #expect(WorkerNotice(payload: notice.payload.utf8)?.session == expected, "\(name.debugDescription)")
            }
        }
    }

    @Test("Canonically equal names of incarnations, sessions, messages and members differ")
    func equality() throws {
        for (left, right) in NastyNames.canonicallyEqual {
            let texts = [ByteString(left), ByteString(right)]
            #expect(Set(texts.map(Incarnation.init(name:))).count == 2)
            #expect(Set(texts.map(SessionID.init(random:))).count == 2)
            #expect(Set(texts.map(MessageID.text)).count == 2)
            #expect(Typist(user: try UserID("a"), name: left) != Typist(user: try UserID("a"), name: right))
        }
    }
}
