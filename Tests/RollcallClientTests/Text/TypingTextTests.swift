// The typing text.

import RollcallModel
import Testing

@testable import RollcallClient

@Suite struct TypingTextTests {
    private let english = TypingText.english

    @Test("none, one, two, three, four and three hundred users")
    func counts() {
        #expect(english.text(for: .of()) == "")
        #expect(english.text(for: .of("Alice")) == "Alice is typing…")
        #expect(english.text(for: .of("Alice", "Bob")) == "Alice and Bob are typing…")
        #expect(english.text(for: .of("Alice", "Bob", "Charlie")) == "Alice, Bob, and Charlie are typing…")
        #expect(english.text(for: .of("Alice", "Bob", "Charlie", "Dora")) == "Alice, Bob, and 2 others are typing…")
        #expect(english.text(for: .of("Alice", "Bob", count: 300)) == "Alice, Bob, and 298 others are typing…")
    }

    @Test("the maximum number of names")
    func maximumNames() {
        var text = TypingText.english
        text.maximumNames = 2
        #expect(text.text(for: .of("Alice", "Bob")) == "Alice and Bob are typing…")
        #expect(text.text(for: .of("Alice", "Bob", "Charlie")) == "Alice, Bob, and 1 other are typing…")
        text.maximumNames = 1
        #expect(text.text(for: .of("Alice", "Bob")) == "Alice and 1 other are typing…")
        text.maximumNames = 0
        #expect(text.text(for: .of("Alice", "Bob")) == "2 people are typing…")
        #expect(text.text(for: .of("Alice")) == "Someone is typing…")
        text.maximumNames = -1
        #expect(text.text(for: .of("Alice")) == "Someone is typing…", "as none")
        text.maximumNames = 5
        #expect(text.text(for: .of("A", "B", "C", "D", "E")) == "A, B, C, D, and E are typing…")
        #expect(text.text(for: .of("A", "B", "C", "D", "E", "F")) == "A, B, and 4 others are typing…")
    }

    @Test("several people, from a configured number on")
    func several() {
        var text = TypingText.english
        text.severalFrom = 4
        #expect(text.text(for: .of("A", "B", "C")) == "A, B, and C are typing…")
        #expect(text.text(for: .of("A", "B", "C", "D")) == "Several people are typing…")
        text.severalFrom = 1
        #expect(text.text(for: .of("A")) == "A is typing…", "one is never several")
    }

    @Test("dots as configured, and none in the label")
    func dots() {
        var text = TypingText.english
        text.dots = .three
        #expect(text.text(for: .of("Alice")) == "Alice is typing...")
        #expect(text.label(for: .of("Alice")) == "Alice is typing")
        text.dots = .none
        #expect(text.text(for: .of("Alice")) == "Alice is typing")
        #expect(text.text(for: .of()) == "")
        #expect(text.label(for: .of()) == "")
    }

    @Test("by start of typing, or by name")
    func order() {
        var text = TypingText.english
        let typing = Typing.of("Zoe", "alice", "Bob")
        #expect(text.text(for: typing) == "Zoe, alice, and Bob are typing…")
        text.order = .name
        #expect(text.text(for: typing) == "alice, Bob, and Zoe are typing…")
    }

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

    @Test("unknown users are counted")
    func unknownPeople() {
        func typing(_ names: String?...) -> Typing {
            let typists = names.enumerated().map { Typist(user: try! UserID("u\($0)"), name: $1) }
            return Typing(conversation: "c42", typists: typists)
        }
        #expect(english.text(for: typing(nil, nil)) == "2 people are typing…")
        #expect(english.text(for: typing(nil, nil, nil)) == "3 people are typing…")
        #expect(english.text(for: typing("Alice", nil)) == "Alice and someone else are typing…")
        #expect(english.text(for: typing("Alice", "Bob", nil)) == "Alice, Bob, and someone else are typing…")
        #expect(english.text(for: typing(nil, "Alice", nil)) == "Alice and 2 others are typing…")
        #expect(english.text(for: typing(nil, "Alice", nil, nil, nil)) == "Alice and 4 others are typing…")
        let uncounted = Typing(conversation: "c42", count: 40)
        #expect(english.text(for: uncounted) == "40 people are typing…")
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
        #expect(text.text(for: .of("Alice")) == "Alice is typing…")
        #expect(text.text(for: .of("Alicia")) == "Alic… is typing…")
        let families = Typing(conversation: "c", typists: [Typist(user: "f", name: "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦")])
        #expect(text.text(for: families) == "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦… is typing…")
        let spaced = Typing(conversation: "c", typists: [Typist(user: "f", name: "Ann B Carter")])
        #expect(text.text(for: spaced) == "Ann… is typing…")
        let piled = "Z" + String(repeating: "\u{0301}", count: 100_000)
        let zalgo = Typing(conversation: "c", typists: [Typist(user: "z", name: "Al" + piled)])
        #expect(text.text(for: zalgo) == "Al… is typing…")
        let hopeless = Typing(conversation: "c", typists: [Typist(user: "z", name: piled)])
        #expect(text.text(for: hopeless) == "Someone is typing…")
        let page = Typing(conversation: "c", typists: [Typist(user: "p", name: "  Al\n\tB ")])
        #expect(text.text(for: page) == "Al B is typing…")
    }

    @Test("a screen reader announces only changes of the set")
    func announcements() {
        var announcer = TypingAnnouncer()
        #expect(announcer.announcement(for: .of()) == nil)
        #expect(announcer.announcement(for: .of("Alice", "Bob")) == "Alice and Bob are typing")
        #expect(announcer.announcement(for: .of("Bob", "Alice")) == nil)
        #expect(announcer.announcement(for: .of("Bob")) == "Bob is typing")
        #expect(announcer.announcement(for: .of("Bob", count: 30)) == "Bob and 29 others are typing")
        #expect(announcer.announcement(for: .of()) == "")
        #expect(announcer.announcement(for: .of()) == nil)
    }
}
