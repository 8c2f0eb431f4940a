// Last-seen texts, the dot, the count and the moving dots.

import Foundation
import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct LastSeenTextTests {
    private let seen: Int64 = 1_753_600_000_000

    private func text(_ style: LastSeenText.Style = .discreet, after age: Duration) -> String {
        english(style).text(
            for: .of("bob", .offline, lastSeen: seen), at: Timestamp(milliseconds: seen).advanced(by: age))
    }

    private func english(_ style: LastSeenText.Style) -> LastSeenText {
        var english = LastSeenText(language: .english, style: style)
        english.timeZone = .gmt  // Where `seen` is at 07:06:40.
        return english
    }

    @Test("what is today, the reader's time zone decides, also where a day has 23 hours")
    func timeZones() throws {
        // Moscow's midnight is at 21:00 of GMT. In Berlin, 2026-03-29 has 23 hours, from 23:00 to 22:00 of GMT.
        for (zone, seen, today, yesterday) in [
            ("Europe/Moscow", 1_753_600_000_000, 49_999_999, 50_000_000),
            ("Europe/Berlin", 1_774_742_400_000, 79_199_999, 79_200_000),
        ] as [(String, Int64, Int64, Int64)] {
            var text = LastSeenText.english
            text.timeZone = try #require(TimeZone(identifier: zone))
            let (bob, start) = (Presence.of("bob", .offline, lastSeen: seen), Timestamp(milliseconds: seen))
            #expect(text.text(for: bob, at: start.advanced(by: .milliseconds(today))) == "Last seen today")
            #expect(text.text(for: bob, at: start.advanced(by: .milliseconds(yesterday))) == "Last seen yesterday")
            #expect(text.validity(for: bob, at: start.advanced(by: .milliseconds(today))) == .milliseconds(1))
        }
    }

    @Test(
        "discreet, by how long ago it was",
        arguments: [
            (.zero, "Last seen just now"), (.milliseconds(59_999), "Last seen just now"), (.seconds(60), "1m ago"),
            (.seconds(3 * 60 + 59), "3m ago"), (.milliseconds(299_999), "4m ago"), (.seconds(300), "Active recently"),
            (.milliseconds(3_599_999), "Active recently"), (.seconds(3600), "Last seen today"),
            (.milliseconds(60_799_999), "Last seen today"), (.milliseconds(60_800_000), "Last seen yesterday"),
            (.milliseconds(86_399_999), "Last seen yesterday"), (.seconds(86_400), "Last seen within a week"),
            (.seconds(86_400 * 400), "Last seen a long time ago"), (.seconds(-5), "Last seen just now"),
        ] as [(Duration, String)])
    func discreet(age: Duration, expected: String) {
        #expect(text(after: age) == expected)
    }

    @Test(
        "exact",
        arguments: [
            (.seconds(59), "Last seen just now"), (.seconds(60), "Last seen 1 minute ago"),
            (.seconds(3599), "Last seen 59 minutes ago"),
            (.seconds(3600), "Last seen 1 hour ago"), (.seconds(86_399), "Last seen 23 hours ago"),
            (.seconds(86_400), "Last seen 1 day ago"), (.seconds(86_400 * 9), "Last seen 9 days ago"),
        ] as [(Duration, String)])
    func exact(age: Duration, expected: String) {
        #expect(text(.exact, after: age) == expected)
    }

    @Test("a present user is active now or away, whatever the last-seen time; a user never seen has no line")
    func present() {
        let now = Timestamp(milliseconds: seen)
        #expect(LastSeenText.english.text(for: .of("b", .online, lastSeen: 1), at: now) == "Active now")
        #expect(LastSeenText.english.text(for: .of("b", .away, lastSeen: nil), at: now) == "Away")
        #expect(LastSeenText.english.text(for: .of("b", .offline), at: now) == "")
        #expect(LastSeenText.english.text(for: nil, at: now) == "")
    }

    @Test("who is there says until when not to be disturbed, on which clock, and on which day; who is offline does not")
    func availability() throws {
        var english = english(.discreet)
        english.hourCycle = .zeroToTwentyThree
        let now = Timestamp(milliseconds: seen)  // 07:06:40
        func bob(_ status: PresenceStatus, until: Int64) throws -> Presence {
            try JSONDecoder().decode(
                Presence.self,
                from: Data(
                    #"""
                    {"user":"bob","status":"\#(status)","version":7,"availability":"dnd","until":\#(until),"last_seen":\#(seen)}
                    """#.utf8))
        }
        #expect(english.text(for: try bob(.away, until: seen + 3_600_000), at: now) == "Do not disturb until 08:06")
        #expect(english.validity(for: try bob(.online, until: seen + 3_600_000), at: now) == .seconds(3600))
        let tomorrow = try bob(.online, until: seen + 86_400_000)
        #expect(english.text(for: tomorrow, at: now) == "Do not disturb until Jul 28 at 07:06")
        #expect(english.validity(for: tomorrow, at: now) == .seconds(60_800), "at midnight it is today")
        #expect(english.text(for: try bob(.online, until: seen), at: now) == "Active now")
        #expect(english.text(for: try bob(.offline, until: seen + 3_600_000), at: now) == "Last seen just now")
        english.hourCycle = .oneToTwelve
        #expect(english.text(for: tomorrow, at: now).hasSuffix("7:06\u{202F}AM"))
    }

    @Test("who does not say when is offline, with a grey dot")
    func timeless() {
        let bob = Presence.of("bob", .offline, version: 1)
        #expect(LastSeenText.english.text(for: bob, at: Timestamp(milliseconds: seen)) == "Offline")
        #expect(PresenceDot(bob) == .grey)
    }

    @Test("the text says how long it stays correct, and changes exactly then", arguments: LastSeenText.Style.allCases)
    func validity(style: LastSeenText.Style) {
        let english = english(style)
        let bob = Presence.of("bob", .offline, lastSeen: seen)
        var now = Timestamp(milliseconds: seen - 1500)
        var lines: [String] = []
        while let validity = english.validity(for: bob, at: now), lines.count < 100 {
            let line = english.text(for: bob, at: now)
            #expect(lines.last != line)
            #expect(english.text(for: bob, at: now.advanced(by: validity - .milliseconds(1))) == line)
            lines.append(line)
            now = now.advanced(by: validity)
            #expect(english.text(for: bob, at: now) != line)
        }
        #expect(lines.count == (style == .discreet ? 10 : 100))
        #expect(english.validity(for: .of("bob", .online, lastSeen: seen), at: now) == nil)
        #expect(english.validity(for: nil, at: now) == nil)
    }

    @Test("the dot's colour role")
    func dot() {
        #expect(PresenceDot(.of("b", .online)) == .green)
        #expect(PresenceDot(.of("b", .away)) == .amber)
        #expect(PresenceDot(.of("b", .offline, lastSeen: 1)) == .grey)
        #expect(PresenceDot(.of("b", .offline)) == PresenceDot.none, "never seen")
        #expect(PresenceDot(nil) == PresenceDot.none)
    }

    @Test("how many members of a group are online")
    func group() {
        let group = [Presence.of("a", .online), .of("b", .away), .of("c", .online), .of("d", .online)]
        #expect(GroupCount(of: group, total: 5).description == "3 of 5 online")
        #expect(GroupCount(of: group, total: 5000, listed: 4).description == "3+ of 5000 online")
    }

    @Test("three dots in turn, each for 0.4 s; still if motion is reduced")
    func dots() {
        for (milliseconds, phase) in [(0, 0), (399, 0), (400, 1), (800, 2), (1199, 2), (1200, 0), (120_400, 1)] {
            let dots = TypingDots(after: .milliseconds(milliseconds))
            #expect(dots.phase == phase)
            #expect(dots.opacities.allSatisfy { (0.3...1).contains($0) })
        }
        #expect(TypingDots(after: .milliseconds(600)).opacities == [0.3, 1, 0.3])
        #expect(
            TypingDots(after: .milliseconds(600), reducesMotion: true) == TypingDots(after: .zero, reducesMotion: true))
        #expect(TypingDots(after: .seconds(-1)).phase == 0)
        let two = TypingDots(after: .milliseconds(150), interval: .milliseconds(100), count: 2)
        #expect(two.phase == 1 && two.opacities == [0.3, 1])
        #expect(TypingDots(after: .zero, interval: .zero, count: -1).opacities == [])
    }
}
