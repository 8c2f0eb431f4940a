// Each language has the correct text for any number of users.

import Foundation
import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct GoldenTests {
    @Test("who is typing, in every language", arguments: Golden.cases.typing)
    func typing(example: Golden.TypingCase) throws {
        let text = try TypingText(example)
        #expect(text.text(for: Typing(example)) == example.text)
        #expect(text.label(for: Typing(example)) == example.label)
    }

    @Test("when a user was last seen, in every language", arguments: Golden.cases.lastSeen)
    func lastSeen(example: Golden.LastSeenCase) throws {
        let style = try #require(LastSeenText.Style.allCases.first { "\($0)" == example.style })
        var text = try LastSeenText(language: .named(example.language), style: style)
        text.timeZone = .gmt
        let seen: Int64 = 1_753_600_000_000
        let now = Timestamp(milliseconds: seen + example.seconds * 1000)
        #expect(text.text(for: .of("bob", .offline, lastSeen: seen), at: now) == example.text)
    }

    @Test("how many members of a group are online, in every language")
    func groups() throws {
        for example in Golden.cases.groups {
            let online = (0..<example.online).map { Presence.of(try! UserID("u\($0)"), .online) }
            let count = GroupCount(of: online, total: example.total)
            #expect(count.text(in: try .named(example.language)) == example.text)
        }
    }

    @Test("the dot's colour in words, in every language")
    func presence() throws {
        for example in Golden.cases.presence {
            let language = try Language.named(example.language)
            #expect(PresenceDot.green.label(in: language) == example.online)
            #expect(PresenceDot.amber.label(in: language) == example.away)
            #expect(PresenceDot.grey.label(in: language) == example.offline)
            #expect(PresenceDot.none.label(in: language) == "")
        }
    }

    @Test("busy, and not to be disturbed until three, in every language")
    func availability() {
        for example in Golden.cases.presence {
            let language = Language.all.first { $0.id == example.language } ?? .english
            var words = LastSeenText(language: language)
            (words.timeZone, words.hourCycle) = (.gmt, .zeroToTwentyThree)
            let (noon, three) = (Timestamp(milliseconds: 43_200_000), Timestamp(milliseconds: 54_000_000))
            #expect(words.text(for: .busy, until: nil, at: noon) == example.busy)
            #expect(words.text(for: .dnd, until: three, at: noon) == example.until)
            #expect(words.text(for: .dnd, until: three, at: three) == "")
        }
    }

    @Test("plural categories as in CLDR")
    func plurals() throws {
        for example in Golden.cases.plurals {
            let rule = try Language.named(example.language).plural
            for (category, numbers) in example.numbers {
                for number in numbers {
                    #expect(rule.category(of: number) == category, "\(example.language) \(number)")
                }
            }
        }
    }

    @Test("every language has examples", arguments: Language.all)
    func complete(language: Language) {
        let cases = Golden.cases
        let typing = cases.typing.filter { $0.language == language.id }
        let counts = Set(typing.map { $0.count ?? $0.typists.count })
        #expect(counts.isSuperset(of: [1, 2, 3, 5]))
        #expect(Set(typing.map(\.dots)).isSuperset(of: [nil, "three"]))
        #expect(typing.contains { $0.typists == [nil] } && typing.contains { $0.typists == [nil, nil] })
        #expect(Set(cases.lastSeen.filter { $0.language == language.id }.map(\.style)) == ["discreet", "exact"])
        #expect(cases.groups.contains { $0.language == language.id })
        #expect(cases.presence.contains { $0.language == language.id })
        #expect(cases.plurals.contains { $0.language == language.id })
    }
}

extension TypingText {
    fileprivate init(_ example: Golden.TypingCase) throws {
        self.init(language: try .named(example.language))
        maximumNames = example.maximumNames ?? maximumNames
        severalFrom = example.severalFrom
        longestName = example.longestName ?? longestName
        dots = Dots.allCases.first { "\($0)" == example.dots } ?? dots
        order = Order.allCases.first { "\($0)" == example.order } ?? order
    }
}

extension Typing {
    fileprivate init(_ example: Golden.TypingCase) {
        let kinds = (example.kinds ?? ["typing"]).map { TypingKind(stored: ByteString($0)) }
        let typists = example.typists.enumerated().map { index, name in
            Typist(user: try! UserID("u\(index)"), name: name, kind: kinds[index % kinds.count])
        }
        self.init(conversation: "c42", typists: typists, count: example.count)
    }
}
