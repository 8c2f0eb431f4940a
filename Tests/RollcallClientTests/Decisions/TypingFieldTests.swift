// When a user types, edit by edit on a test clock.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

/// A text field with its own clock, which handles the field's deadlines as time passes.
struct FieldStory {
    let start = ContinuousClock.now
    var field: TypingField
    var now: Duration = .zero
    var signals: [(at: Duration, Bool, kind: TypingKind)] = []

    init(_ settings: TypingSettings = .standard) {
        field = TypingField(in: "c42", settings: settings)
    }

    mutating func edit(_ filled: Bool = true, _ kind: TypingKind = .typing, at time: Duration) {
        advance(to: time)
        note(field.edited(filled: filled, kind: kind, at: start + now))
    }

    mutating func end(at time: Duration) {
        advance(to: time)
        note(field.ended())
    }

    mutating func advance(to time: Duration) {
        while let deadline = field.deadline, deadline <= start + time {
            now = max(now, deadline - start)
            note(field.deadlinePassed(at: start + now))
        }
        now = time
    }

    mutating func note(_ signal: Bool?) {
        if let signal { signals.append((now, signal, field.kind)) }
    }

    var story: [String] { signals.map { "\($0.at.milliseconds) \($0.1 ? "\($0.kind)" : "stopped")" } }
}

@Suite struct TypingFieldTests {
    @Test("typing starts once the field has contained text for the debounce time")
    func debounce() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.edit(at: .milliseconds(100))
        story.advance(to: .milliseconds(299))
        #expect(story.story.isEmpty)
        story.advance(to: .milliseconds(300))
        #expect(story.story == ["300 typing"])
    }

    @Test("another kind is signalled at once; an edit then counts as typing again")
    func kinds() {
        var story = FieldStory()
        story.edit(true, .recording, at: .zero)
        story.edit(true, .recording, at: .milliseconds(900))
        story.edit(true, .uploading, at: .milliseconds(1_000))
        story.edit(at: .milliseconds(1_100))
        story.edit(false, at: .milliseconds(1_200))
        #expect(story.story == ["300 recording", "1000 uploading", "1100 typing", "1200 stopped"])
    }

    @Test("a letter typed and deleted is never shown")
    func typedAndDeleted() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.edit(false, at: .milliseconds(200))
        story.advance(to: .seconds(60))
        #expect(story.story.isEmpty)
        #expect(story.field.deadline == nil)
    }

    @Test("the debounce starts again if the field was empty in between")
    func debounceAnew() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.edit(false, at: .milliseconds(200))
        story.edit(at: .milliseconds(250))
        story.advance(to: .milliseconds(600))
        #expect(story.story == ["550 typing"])
    }

    @Test("without a debounce, the first edit is the signal")
    func noDebounce() throws {
        var story = FieldStory(try TypingSettings(debounce: .zero))
        story.edit(at: .milliseconds(7))
        #expect(story.story == ["7 typing"])
    }

    @Test("emptying the field stops at once")
    func emptied() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.edit(false, at: .milliseconds(1234))
        story.advance(to: .seconds(60))
        #expect(story.story == ["300 typing", "1234 stopped"])
    }

    @Test("continued typing is renewed once per throttle, however long the inactivity time is")
    func renewals() throws {
        var story = FieldStory(try TypingSettings(inactivity: .seconds(8)))
        story.edit(at: .zero)
        story.advance(to: .seconds(60))
        let renewals = (0...7).map { "\($0 * 1000 + 300) typing" }
        #expect(story.story == renewals + ["8000 stopped"])
    }

    @Test("ten seconds at twelve keys per second cause ten signals at most, a second apart")
    func tenSeconds() {
        var story = FieldStory()
        for key in 0..<120 { story.edit(at: .milliseconds(key * 1000 / 12)) }
        story.end(at: .seconds(10))
        #expect(story.signals.filter { $0.1 }.count == 10)
        #expect(story.story.last == "10000 stopped")
        #expect(story.story.count == 11)
    }

    @Test("the inactivity time without an edit stops; a later edit starts again at once")
    func inactivity() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.edit(at: .milliseconds(500))
        story.advance(to: .seconds(20))
        #expect(story.story == ["300 typing", "1300 typing", "2300 typing", "3300 typing", "3500 stopped"])
        story.edit(at: .seconds(20))
        #expect(story.story.last == "20000 typing")
    }

    @Test("a field emptied while paused has nothing to stop")
    func emptiedWhilePaused() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.advance(to: .seconds(10))
        let before = story.story
        story.edit(false, at: .seconds(11))
        story.advance(to: .seconds(20))
        #expect(story.story == before)
        story.edit(at: .seconds(20))
        #expect(story.story == before, "and starts with the debounce again")
    }

    @Test("sending, leaving and the background stop at once, but only typing that had started")
    func ended() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.end(at: .milliseconds(100))
        #expect(story.story.isEmpty)
        story.edit(at: .milliseconds(200))
        story.end(at: .milliseconds(600))
        story.end(at: .milliseconds(700))
        story.advance(to: .seconds(60))
        #expect(story.story == ["500 typing", "600 stopped"])
    }

    @Test("a new connection is sent current typing only")
    func connected() {
        var story = FieldStory()
        story.note(story.field.connected(at: story.start))
        story.edit(at: .zero)
        story.note(story.field.connected(at: story.start))
        #expect(story.story.isEmpty)
        story.advance(to: .milliseconds(900))
        story.note(story.field.connected(at: story.start + story.now))
        #expect(story.story == ["300 typing", "900 typing"])
        story.advance(to: .milliseconds(1900))
        #expect(story.story.last == "1900 typing", "the throttle counts from the last signal")
    }

    @Test("a deadline noticed late, as after sleep, stops what is over and renews nothing")
    func asleep() {
        var story = FieldStory()
        story.edit(at: .zero)
        story.advance(to: .milliseconds(400))
        story.now = .seconds(100)
        story.note(story.field.deadlinePassed(at: story.start + story.now))
        #expect(story.story == ["300 typing", "100000 stopped"])
    }

    @Test("a worker with a shorter typing expiry is sent signals more often")
    func shorterExpiry() {
        var story = FieldStory()
        story.field.expiryLearnt(.milliseconds(1500))
        story.edit(at: .zero)
        story.advance(to: .milliseconds(1400))
        #expect(story.story == ["300 typing", "800 typing", "1300 typing"])
    }

    @Test("in any case, starts and stops alternate, and no two typing signals are closer than allowed")
    func randomised() {
        let seed = printedSeed()
        var random = SeededGenerator(seed: seed)
        var story = FieldStory()
        var time = Duration.zero
        for _ in 0..<5_000 {
            time += .milliseconds(Int.random(in: 0...1500, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0: story.edit(false, at: time)
            case 1: story.end(at: time)
            default: story.edit(at: time)
            }
        }
        story.advance(to: time + .seconds(60))
        var isTyping = false
        var last = Duration.zero
        for (at, signal, _) in story.signals {
            switch signal {
            case true:
                if isTyping { #expect(at - last <= .seconds(1), "seed \(seed)") }
                if isTyping { #expect(at - last >= .seconds(1), "seed \(seed)") }
                isTyping = true
                last = at
            case false:
                #expect(isTyping, "seed \(seed)")
                isTyping = false
            }
        }
        #expect(!isTyping, "seed \(seed)")
    }
}

@Suite struct TypingSettingsTests {
    @Test("settings are checked together, and every problem is reported")
    func validation() throws {
        #expect(throws: Never.self) { try TypingSettings() }
        #expect(throws: Never.self) { try TypingSettings(throttle: .seconds(2)) }
        #expect(throws: Never.self) { try TypingSettings(throttle: .seconds(3), expiry: .seconds(4)) }
        let late = #expect(throws: InvalidTypingSettings.self) { try TypingSettings(throttle: .seconds(3)) }
        #expect(late?.problems.count == 1)
        let wrong = #expect(throws: InvalidTypingSettings.self) {
            try TypingSettings(debounce: .seconds(-1), throttle: .zero, inactivity: .seconds(-2))
        }
        #expect(wrong?.problems.count == 3)
        #expect(wrong?.description.contains("throttle is not positive") == true)
    }
}
