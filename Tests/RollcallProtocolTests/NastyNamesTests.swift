import RollcallProtocol
import TestSupport
import Testing

@Suite("The shared list of unusual names")
struct NastyNamesTests {
    @Test("Every name of the list is allowed, and none has the bytes of another")
    func list() throws {
        let names = try NastyNames.all.map { try UserID($0) }
        #expect(Set(names).count == names.count)
        #expect(NastyNames.longest.allSatisfy { $0.utf8.count == DeviceID.maximumBytes })
    }

    /// OpenID Connect allows a `sub` of 255 characters.
    @Test("A user may have 255 bytes, a device and a conversation 128")
    func lengths() throws {
        let (user, other) = (String(repeating: "\u{301}", count: 127) + "x", String(repeating: "\u{301}", count: 64))
        #expect(try UserID(user).bytes.utf8.count == 255 && ConversationID(other).bytes.utf8.count == 128)
        let tooLong = #expect(throws: InvalidIdentifier.self) { try UserID(user + "x") }
        #expect(tooLong?.description.contains("1–255 bytes") == true)
        #expect(throws: InvalidIdentifier.self) { try DeviceID(other + "x") }
        #expect(throws: InvalidIdentifier.self) { try ConversationID(other + "x") }
    }

    @Test("Canonically equal names are different")
    func pairs() throws {
        for (left, right) in NastyNames.canonicallyEqual {
            #expect(left == right, "not the pair that it should be")
            #expect(try UserID(left) != UserID(right))
        }
    }

    @Test("Drawn names are allowed and distinct, and the same seed draws the same")
    func drawing() throws {
        var random = SeededGenerator(seed: printedSeed())
        var again = random
        let names = NastyNames.draw(500, using: &random)
        let users = try names.map { try UserID($0) }
        #expect(Set(users).count == 500)
        #expect(try NastyNames.draw(500, using: &again).map { try UserID($0) } == users)
        #expect(names.contains { $0.utf8.count == DeviceID.maximumBytes })
    }
}
