import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct TypistViewTests {
    @Test("two users with the same view are sent the same, for the previous and for the current set")
    func sameMessage() {
        randomised("views") { random in
            for _ in 0..<300 {
                let names = Int.random(in: 0...4, using: &random)
                let (before, now) = (Self.typists(&random), Self.typists(&random))
                let views = TypistView.all(before: before, now: now, names: names)
                for (one, other) in zip(views, views.dropFirst()) where one.look == other.look {
                    for typists in [before, now] {
                        #expect(
                            ServerMessage.typing(in: "c", of: typists, but: one.user, names: names)
                                == ServerMessage.typing(in: "c", of: typists, but: other.user, names: names))
                    }
                }
            }
        }
    }

    @Test("however many type, few views differ")
    func few() {
        let typists = (0..<300).map { UserID(stringLiteral: "user\($0)") }.map { Typist(user: $0) }
        let views = TypistView.all(before: Array(typists.dropLast(100)), now: typists, names: 10)
        #expect(views.count == 300)
        #expect(Set(views.map(\.look)).count == 12)
    }

    private static func typists(_ random: inout SeededGenerator) -> [Typist] {
        let count = Int.random(in: 0...8, using: &random)
        return (0..<10).shuffled(using: &random).prefix(count).map { UserID(stringLiteral: "user\($0)") }
            .map { Typist(user: $0) }
    }
}
