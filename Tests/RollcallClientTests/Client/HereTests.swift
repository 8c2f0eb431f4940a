// What this device has open, and who is here, with a fake worker.

import Foundation
import RollcallTesting
import Testing

@testable import RollcallClient

@Suite @MainActor struct HereTests {
    private struct Cursor: Codable, Equatable {
        var section: Int
    }

    private let worker = FakeWorker()

    private func connected(_ user: UserID) -> RollcallClient {
        let client = worker.client(user: user)
        client.connect()
        return client
    }

    @Test("a model shows who else is here, in words, and what they show")
    func model() async throws {
        let client = connected("alice")
        let page = HereModel(in: "doc", from: client)
        await worker.passes(.zero)
        #expect(page.text == "" && page.otherCount == 0 && page.here.count == 1)
        let (bob, carol) = (worker.person("bob", name: "Bob"), worker.person("carol", name: "Carol"))
        await bob.enters("doc", data: try HereData(Cursor(section: 4)))
        await carol.enters("doc")
        #expect(page.text == "Bob and Carol are here" && page.label == page.text)
        #expect(page.others.map { $0.data(as: Cursor.self) } == [Cursor(section: 4), nil])
        #expect(page.others.map { $0.data(as: [String: String].self) } == [nil, nil], "data of another type")
        await bob.exits("doc")
        #expect(page.text == "Carol is here")
        let other = HereModel(in: "doc", from: connected("carol"), enters: false)
        await worker.passes(.zero)
        #expect(other.here.users.map(\.user) == ["alice", "carol"])
        try page.show(Cursor(section: 7))
        await worker.passes(.zero)
        #expect(other.others.first?.data(as: Cursor.self) == Cursor(section: 7))
    }

    @Test("several entries count once; the last one that is released exits, and the conversation is left")
    func entries() async throws {
        let client = connected("alice")
        let other = HereModel(in: "doc", from: connected("bob"), enters: false)
        var one: HereEntry? = try client.enter("doc", data: Cursor(section: 1))
        var two: HereEntry? = client.enter("doc")
        await worker.passes(.zero)
        #expect(other.text == "Someone is here" && other.others.first?.data == nil)
        try one?.show(Cursor(section: 2))
        await worker.passes(.zero)
        #expect(other.others.first?.data(as: Cursor.self) == Cursor(section: 2))
        one = nil
        await worker.passes(.zero)
        #expect(other.otherCount == 1)
        two = nil
        await worker.passes(.zero)
        #expect(other.otherCount == 0 && one == nil && two == nil)
        #expect(await worker.heard().contains(.leave("doc")))
    }

    @Test("what was entered is entered again after a reconnect, and nobody is known to be here while stale")
    func reconnect() async throws {
        let client = connected("alice")
        let page = HereModel(in: "doc", from: client)
        try page.show(Cursor(section: 3))
        await worker.person("bob", name: "Bob").enters("doc")
        #expect(page.text == "Bob is here")
        await worker.goesAway()
        await worker.passes(.seconds(4))
        #expect(page.text == "Bob is here")
        await worker.passes(.seconds(4))
        #expect(page.text == "" && page.here.users.isEmpty)
        await worker.comesBack()
        await worker.passes(.seconds(5))
        #expect(page.text == "Bob is here" && page.here.count == 2)
        #expect(page.here.users.last?.data(as: Cursor.self) == Cursor(section: 3))
    }

    @Test("what may not be entered is a problem, and is tried again for as long as it is wanted")
    func refused() async throws {
        await worker.setMembers(["bob": "Bob"], of: "doc")
        let client = connected("alice")
        let page = HereModel(in: "doc", from: client)
        await worker.passes(.seconds(1))
        #expect(page.refusal?.code == .notAMember)
        await worker.setMembers(["bob": "Bob", "alice": "Alice"], of: "doc")
        await worker.passes(.seconds(120))
        #expect(page.refusal == nil && page.here.users.map(\.user) == ["alice"])
        #expect(throws: EncodingError.self) { try page.show([1, 2]) }
    }

    @Test("texts: names, others, and people without names, in every language", arguments: Language.all)
    func texts(language: Language) {
        func text(_ names: [String?], count: Int? = nil) -> String {
            let users = names.enumerated().map {
                HereUser(user: try! UserID("u\($0)"), name: $1.map(ByteString.init), since: Timestamp(milliseconds: 0))
            }
            return HereText(language: language).label(for: Here(conversation: "doc", users: users, count: count))
        }
        #expect(text([]) == "")
        let one = text(["Ada"])
        #expect(one.contains("Ada") && one.contains(language.words.typing.verb.here) || language.id == "hi")
        #expect(text(["Ada", "Bob"]).contains(language.words.typing.verbs.here))
        #expect(text(["Ada", "Bob", "Eve"], count: 12).contains("10"))
        #expect(text([nil, nil], count: 12).contains("12"))
        if language.id == "en" {
            #expect(text(["Ada", "Bob", "Eve"], count: 12) == "Ada, Bob, and 10 others are here")
            #expect(text([nil, nil], count: 12) == "12 people are here")
        }
    }
}
