// What the golden examples do not say about the typing text.

import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct TypingTextTests {
    private let english = TypingText.english

    @Test("the application's name, else the member's, else Someone")
    func names() {
        let unknown = Typing(conversation: "c42", typists: [Typist(user: "u1")])
        #expect(english.text(for: unknown) == "Someone is typing…")
        #expect(english.text(for: unknown) { _ in "Ada" } == "Ada is typing…")
        #expect(english.text(for: .of("Bob")) { $0 == "bob" ? "Bobby" : nil } == "Bobby is typing…")
        #expect(english.text(for: .of("Bob")) { _ in nil } == "Bob is typing…")
        #expect(english.text(for: .of("Bob")) { _ in "" } == "Bob is typing…", "an empty name is unknown")
        let empty = Typing(conversation: "c42", typists: [Typist(user: "u1", name: " \n")])
        #expect(english.text(for: empty) == "Someone is typing…")
    }

    @Test("names are not shortened if an application sets the largest limit")
    func unlimitedNames() {
        var text = TypingText.english
        text.longestName = .max
        let name = String(repeating: "Al", count: 1000)
        let typing = Typing(conversation: "c", typists: [Typist(user: "al", name: name)])
        #expect(text.text(for: typing) == "\(name) is typing…")
    }

    @Test("very long names are shortened between characters")
    func longNames() {
        var text = TypingText.english
        text.longestName = 5
        let families = Typing(conversation: "c", typists: [Typist(user: "f", name: "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦")])
        #expect(text.text(for: families) == "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦… is typing…")
        let spaced = Typing(conversation: "c", typists: [Typist(user: "f", name: "Ann B Carter")])
        #expect(text.text(for: spaced) == "Ann… is typing…")
        let piled = "Z" + String(repeating: "\u{0301}", count: 100_000)
        let zalgo = Typing(conversation: "c", typists: [Typist(user: "z", name: "Al" + piled)])
        #expect(text.text(for: zalgo) == "Al… is typing…")
        let hopeless = Typing(conversation: "c", typists: [Typist(user: "z", name: piled)])
        #expect(text.text(for: hopeless) == "Someone is typing…")
    }

    @Test("a screen reader announces only changes of the label")
    func announcements() {
        var announcer = TypingAnnouncer()
        #expect(announcer.announcement(for: .of()) == nil)
        #expect(announcer.announcement(for: .of("Alice", "Bob")) == "Alice and Bob are typing")
        #expect(announcer.announcement(for: .of("Alice", "Bob")) == nil)
        #expect(announcer.announcement(for: .of("Bob")) == "Bob is typing")
        let thinking = Typing(conversation: "c42", typists: [Typist(user: "bob", name: "Bob", kind: .thinking)])
        #expect(announcer.announcement(for: thinking) == "Bob is thinking")
        #expect(announcer.announcement(for: thinking) == nil)
        #expect(announcer.announcement(for: .of("Bob", count: 30)) == "Bob and 29 others are typing")
        #expect(announcer.announcement(for: .of()) == "")
        #expect(announcer.announcement(for: .of()) == nil)
    }

    @Test("the same people are not announced again within 5 s, and somebody new is at once")
    func announcedAgain() {
        var announcer = TypingAnnouncer()
        let start = ContinuousClock.now
        func at(_ milliseconds: Int, _ names: String...) -> String? {
            let typing = Typing(
                conversation: "c42", typists: names.map { Typist(user: "bob", name: $0) }, count: names.count)
            return announcer.announcement(for: typing, at: start + .milliseconds(milliseconds))
        }
        #expect([at(0, "Alice"), at(500), at(1000, "Alice"), at(1500)] == ["Alice is typing", "", nil, ""])
        #expect(
            [at(2000, "Bob"), at(2500), at(5100, "Alice"), at(5200)] == ["Bob is typing", "", "Alice is typing", ""])
    }
}
