import Foundation
import RollcallTerminal
import Testing

@testable import RollcallClient

@Suite("Change lines")
struct NewsTests {
    private let now = WatchScreenTests.now

    /// Returns the lines for each of some changes.
    private func news(in changes: Change...) -> [[News]] {
        var desk = NewsDesk()
        return changes.map { desk.news(in: $0) }
    }

    private func lines(_ news: [News], in language: Language = .english) -> [String] {
        news.compactMap { $0.line(in: Wording(in: language), at: now) }
    }

    private func json(_ news: News) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(news), as: UTF8.self)
    }

    @Test("each change is reported once, and again only when it looks different")
    func once() {
        let alice = WatchScreenTests.presence("alice", .online)
        var newer = alice
        newer.version += 1
        let group = Members(conversation: "c42", people: [Member(user: "alice", name: "Alice", presence: alice)])
        let typing = Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])
        let told = news(
            in: .members(group), .members(group), .presence(alice), .presence(newer),
            .presence(WatchScreenTests.presence("alice", .away)), .typing(typing), .typing(typing),
            .typing(Typing(conversation: "c42")))
        #expect(
            told.map { lines($0) } == [
                ["c42  1 of 1 online", "Alice (alice)  Online"], [], [], [], ["Alice (alice)  Away"],
                ["c42  Alice is typing…"], [], ["c42  nobody is typing"],
            ])
    }

    @Test("a conversation without members is not reported as an empty group")
    func noMembers() {
        let nobody = Members(conversation: "c42")
        let somebody = Members(conversation: "c42", people: [Member(user: "a")])
        #expect(news(in: .members(nobody), .members(somebody), .members(nobody)).map(\.count) == [0, 1, 1])
    }

    @Test("a different waiting time is not reported, a different reason is")
    func connection() {
        let reason = RollcallError(.unreachable, "no worker answered")
        let told = news(
            in: .connection(.connecting), .connection(.waiting(.seconds(1), because: reason)), .connection(.connecting),
            .connection(.waiting(.seconds(2), because: reason)),
            .connection(.waiting(.seconds(2), because: RollcallError(.asked, "later"))))
        #expect(told.map(\.count) == [0, 1, 0, 0, 1])
    }

    @Test("a line has who, the status, and since when")
    func texts() {
        func line(_ presence: Presence, _ name: String? = nil) -> String {
            Person(user: presence.user, name: name, presence: presence).line(in: Wording(in: .english), at: now)
        }
        #expect(line(WatchScreenTests.presence("bob", .offline)) == "bob  Offline")
        #expect(line(WatchScreenTests.presence("bob", .offline, ago: .seconds(5))) == "bob  Offline · 5 s")
        #expect(
            line(WatchScreenTests.presence("bob", .offline, ago: .seconds(7200)))
                == "bob  Offline · Last seen 2 hours ago")
        #expect(line(WatchScreenTests.presence("bob", .away), "\u{1B}[2JBob") == "␛[2JBob (bob)  Away")
    }

    @Test("users without a name appear by identifier, and names cannot send control sequences")
    func typing() {
        let wording = Wording(in: .english)
        func text(_ typists: Typist...) -> String { wording.typing(Typing(conversation: "c", typists: typists)) }
        #expect(text(Typist(user: "alice"), Typist(user: "bob", name: " ")) == "alice and bob are typing…")
        #expect(
            text(Typist(user: "eve", name: "\u{1B}[1mEve\n\u{9B}m")).unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control
            })
    }

    @Test("JSON is as documented")
    func records() throws {
        let session = Session(user: "bob", device: "d1", session: "s", worker: "w1.1")
        #expect(
            try json(.connection(.connected(session)))
                == #"{"connection":{"device":"d1","state":"connected","user":"bob","worker":"w1.1"}}"#)
        #expect(
            try json(.connection(.waiting(.seconds(1), because: RollcallError(.unreachable, "no worker answered"))))
                == #"{"connection":{"problem":{"code":"unreachable","message":"no worker answered"},"state":"waiting"}}"#
        )
        #expect(
            try json(.typing(Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])))
                == #"{"typing":{"conversation":"c42","count":1,"users":[{"name":"Alice","user":"alice"}]}}"#)
        let alice = WatchScreenTests.presence("alice", .online)
        #expect(
            try json(.members(Members(conversation: "c42", people: [Member(user: "alice", presence: alice)])))
                == #"{"members":{"conversation":"c42","count":1,"online":1,"users":[{"user":"alice"}]}}"#)
        #expect(
            try json(.presence(Person(user: "alice", presence: alice)))
                == #"{"presence":{"last_seen":null,"status":"online","updated_at":null,"user":"alice","version":1}}"#)
        let refused = Typing(conversation: "c42", refusal: RollcallError(.notAMember, "no member"))
        let closed = Members(conversation: "c42", refusal: RollcallError(.notAMember, "no member"))
        #expect(lines(news(in: .members(closed)).flatMap(\.self)) == ["c42  members not shown: no member"])
        #expect(try json(.typing(refused)).contains(#""problem":{"code":"not_a_member","message":"no member"}"#))
    }
}
