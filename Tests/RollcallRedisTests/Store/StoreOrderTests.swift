// Which of two sessions of a device counts, and which of two decisions of a session.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreOrderTests {
    @Test func aFirstWriteBeginsTheSessionWhenItsHelloCame() async throws {
        let store = try await StoreUnderTest()
        let written = try await store.write(Session("aa", age: .milliseconds(700)).says(.active, 1))

        #expect(written.outcome == .written)
        #expect(written.began == written.time.advanced(by: .milliseconds(-700)))
        #expect(written.previous == nil)
        let record = try await store.record(of: alice).devices[phone]
        #expect(record?.began == written.began)
        #expect(record?.session == SessionID(random: "aa"))
        #expect(record?.incarnation == w1)
    }

    @Test func aFirstWriteThatWasLongOnItsWayBeginsTheSessionNoLater() async throws {
        let store = try await StoreUnderTest()
        let newer = try await store.write(Session("bb").says(.active, 1))
        let opened = newer.time.advanced(by: .milliseconds(-100))
        let older = try await store.write(Session("aa").says(nil, 1, opened: opened))

        #expect(older.outcome == .replaced)
        #expect(try await store.record(of: alice).devices[phone]?.session == SessionID(random: "bb"))
    }

    @Test func aFirstWriteThatIsRepeatedKeepsItsBeginning() async throws {
        let store = try await StoreUnderTest()
        var session = Session("aa", age: .milliseconds(700))
        let first = try await store.write(session.says(.active, 1))
        session.age = .seconds(9)
        let repeated = try await store.write(session.says(.active, 1))
        let next = try await store.write(session.says(.idle, 2))

        #expect(repeated.outcome == .done)
        #expect(repeated.began == first.began)
        #expect(next.outcome == .written)
        #expect(next.began == first.began)
    }

    @Test func aLargerSequenceOfTheSameSessionWins() async throws {
        let store = try await StoreUnderTest()
        let session = Session("aa")
        try await store.write(session.says(.active, 5))

        #expect(try await store.write(session.says(.idle, 4)).outcome == .late)
        #expect(try await store.write(session.says(.idle, 5)).outcome == .done)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
        #expect(try await store.write(session.says(.idle, 6)).outcome == .written)
        #expect(try await store.record(of: alice).devices[phone]?.state == .idle)
    }

    @Test func whatChangesNothingIsNotPublished() async throws {
        let store = try await StoreUnderTest()
        let began = try await store.write(Session("aa").says(.active, 5)).began
        let version = try await store.record(of: alice).version
        let subscriber = try await RawSubscriber(to: store)

        try await store.write(Session("aa").says(.idle, 5))
        try await store.write(Session("aa").says(.idle, 4))
        let old = try #require(began?.advanced(by: .milliseconds(-1)))
        try await store.write(Session("bb", began: old).says(.idle, 9))
        try await store.write(Session("aa").says(.idle, 9, until: Timestamp(milliseconds: 1)))

        #expect(try await subscriber.heard().isEmpty)
        #expect(try await store.record(of: alice).version == version)
    }

    @Test func ofTwoSessionsTheOneThatBeganLaterWins() async throws {
        let store = try await StoreUnderTest()
        let time = try await store.now()
        let newer = Session("aa", began: time)
        let older = Session("bb", worker: w2, began: time.advanced(by: .milliseconds(-1)))
        try await store.write(newer.says(.active, 1))

        #expect(try await store.write(older.says(.idle, 7)).outcome == .replaced)
        #expect(try await store.record(of: alice).devices[phone]?.session.random == "aa")
    }

    @Test func anOlderHelloLosesEvenIfItsFirstWriteComesLater() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.active, 1))
        let late = try await store.write(Session("bb", age: .seconds(60)).says(.idle, 1))
        #expect(late.outcome == .replaced)
        #expect(late.previous == nil)
    }

    @Test func anEqualBeginningWins() async throws {
        let store = try await StoreUnderTest()
        let time = try await store.now()
        try await store.write(Session("aa", began: time).says(.active, 5))
        #expect(try await store.write(Session("bb", began: time).says(.idle, 1)).outcome == .written)
    }

    @Test func ofTwoSessionsThatBeganInOneMillisecondTheSecondStays() async throws {
        let store = try await StoreUnderTest()
        // A test cannot choose an age that puts the second hello before the first by Redis's clock. So the first is
        // written with exactly the time that the second will compute.
        // What the last try took says what the next one will take.
        var (outcome, delay): (DeviceWritten?, Duration) = (nil, .zero)
        for _ in 0..<500 where outcome == nil {
            let now = try await store.now()
            let guess = now.advanced(by: delay)
            try await store.plant("active w1.aaaa \(guess.milliseconds)-aa 1 1 0")
            let second = try await store.write(Session("bb", worker: w2).says(.active, 1))
            delay = second.time.since(now)
            if second.time == guess { outcome = second }
        }
        let second = try #require(outcome, "no two writes came in one millisecond")
        #expect(second.outcome == .written)

        let first = Session("aa", began: second.time)
        #expect(try await store.write(first.says(.active, 2)).outcome == .replaced)
    }

    @Test func aTakeoverNamesTheLivingSessionThatWasThere() async throws {
        let store = try await StoreUnderTest()
        let first = try await store.write(Session("aa").says(.active, 3))
        let second = try await store.write(Session("bb", worker: w2).says(.active, 1))

        let began = try #require(first.began)
        #expect(second.outcome == .written)
        #expect(
            second.previous
                == DeviceWritten.PreviousSession(incarnation: w1, session: "\(began.milliseconds)-aa"))
        #expect(try await store.write(Session("bb", worker: w2).says(.idle, 2)).previous == nil)
    }

    @Test func aSessionThatIsGoneIsNotTakenOver() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.active, 1))
        try await store.write(Session("aa").says(nil, 2))
        let next = try await store.write(Session("bb").says(.active, 1))
        #expect(next.outcome == .written)
        #expect(next.previous == nil)
    }

    @Test func whatIsGoneStillCountsForOrder() async throws {
        let store = try await StoreUnderTest()
        let began = try await store.write(Session("aa").says(.active, 1)).began
        try await store.write(Session("aa").says(nil, 4))

        #expect(try await store.write(Session("aa").says(.active, 3)).outcome == .late)
        let earlier = began?.advanced(by: .milliseconds(-5))
        #expect(try await store.write(Session("bb", began: earlier).says(.active, 9)).outcome == .replaced)
        #expect(try await store.record(of: alice).devices[phone]?.state == nil)
        #expect(try await store.write(Session("aa").says(.active, 5)).outcome == .written)
    }

    @Test func aWriteAfterItsDeadlineDoesNothing() async throws {
        let store = try await StoreUnderTest()
        let time = try await store.now()
        let late = Session("aa").says(.active, 1, until: time.advanced(by: .milliseconds(-1)))
        let written = try await store.write(late)

        #expect(written.outcome == .expired)
        #expect(written.time >= time)
        #expect(try await store.command("EXISTS", "presence:{alice}").integer == 0)
        let inTime = Session("aa").says(.active, 1, until: time.advanced(by: .seconds(60)))
        #expect(try await store.write(inTime).outcome == .written)
    }
}
