import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct TypistSetTests {
    private let clock = RedisClock(time: redis(0), sent: at(.zero))

    @Test("typing users are kept in the order in which they became known, until their typing ends")
    func order() {
        var set = TypistSet()
        set.changed(typing("bob", at: 100, for: 3000), clock: clock)
        set.changed(typing("alice", at: 200, for: 3000), clock: clock)
        set.changed(typing("bob", at: 1000, for: 3000), clock: clock)
        #expect(set.users == ["bob", "alice"])
        #expect(set.nextChange == at(.milliseconds(3200)))
        set.timePassed(at: at(.milliseconds(3200)))
        #expect(set.users == ["bob"])
        set.timePassed(at: at(.milliseconds(4000)))
        #expect(set.isEmpty)
    }

    /// Regression: 20 devices of one user made everybody in 25 rooms receive 55,000 messages a second.
    @Test("four changes of a user pass at once, later starts wait, and no stop and nobody else's start does")
    func pace() {
        var set = TypistSet(pace: .milliseconds(250))
        var (shown, now) = (0, Duration.zero)
        for number in 0..<400 {
            now = .milliseconds(25 * number)
            set.timePassed(at: at(now))
            let before = set.users
            let milliseconds = Int64(25 * number)
            let isStart = number.isMultiple(of: 2)
            set.changed(
                isStart ? typing("mallory", at: milliseconds, for: 3000) : stopped("mallory", at: milliseconds),
                clock: clock, at: at(now))
            if set.users != before { shown += 1 }
            if !isStart { #expect(set.users.isEmpty, "a stop takes effect at once") }
        }
        #expect((40...46).contains(shown), "one in 250 ms of ten seconds: \(shown)")
        set.changed(typing("mallory", at: 10_000, for: 3000), clock: clock, at: at(.seconds(10)))
        set.changed(typing("alice", at: 10_000, for: 3000), clock: clock, at: at(.seconds(10)))
        #expect(set.users == ["alice"])
        set.timePassed(at: set.nextChange ?? at(.zero))
        #expect(set.users == ["mallory", "alice"], "and who waited is shown, without another signal")
    }

    @Test("another kind is shown, at the pace of other changes; one that comes too soon with the next renewal")
    func kinds() {
        var (set, shown, kinds) = (TypistSet(pace: .milliseconds(250)), 0, [TypingKind]())
        for number in 0..<400 {
            let now = Duration.milliseconds(25 * number)
            set.changed(
                typing(
                    "mallory", at: now.milliseconds, for: 3000, kind: number.isMultiple(of: 2) ? .typing : .recording),
                clock: clock, at: at(now))
            if set.typists.map(\.kind) != kinds { shown += 1 }
            kinds = set.typists.map(\.kind)
        }
        #expect((40...46).contains(shown), "one in 250 ms of ten seconds: \(shown)")
        set.changed(typing("mallory", at: 11_000, for: 3000, kind: .thinking), clock: clock, at: at(.seconds(11)))
        #expect(set.typists.map(\.kind) == [.thinking])
    }

    @Test("a change older than what is known has no effect")
    func older() {
        var set = TypistSet()
        set.changed(typing("bob", at: 1000, for: 3000), clock: clock)
        set.changed(typing("bob", at: 500, for: 3000), clock: clock)
        #expect(set.nextChange == at(.milliseconds(4000)))
        set.changed(stopped("bob", at: 900), clock: clock)
        #expect(set.users == ["bob"], "the stop was of what he typed before")
        set.changed(stopped("bob", at: 1000), clock: clock)
        #expect(set.isEmpty)
    }

    @Test("a newer change received while a snapshot is read stays")
    func heardMeanwhile() {
        var set = TypistSet()
        set.readBegan()
        set.changed(stopped("bob", at: 2000), clock: clock)
        set.changed(typing("alice", at: 2000, for: 3000), clock: clock)
        set.snapshotRead(snapshot(at: 1000, ["bob", "carol"]), clock: clock)
        #expect(Set(set.users) == ["alice", "carol"], "bob has stopped since")
    }

    @Test("of a snapshot and a renewal in the same millisecond the renewal counts, in either order")
    func sameMillisecond() {
        var set = TypistSet()
        set.readBegan()
        set.changed(typing("bob", at: 1000, for: 3500), clock: clock)
        set.snapshotRead(snapshot(at: 1000, ["bob"]), clock: clock)
        #expect(set.nextChange == at(.milliseconds(4500)), "and not as it was before the renewal")
    }

    @Test("a snapshot corrects older knowledge: users that are not in it have stopped typing")
    func corrected() {
        var set = TypistSet()
        set.changed(typing("bob", at: 100, for: 3000), clock: clock)
        set.readBegan()
        set.snapshotRead(snapshot(at: 1000, ["carol"]), clock: clock)
        #expect(set.users == ["carol"])
    }

    @Test("a stop is kept until the last of overlapping reads ends, and no longer")
    func overlapping() {
        var set = TypistSet()
        set.readBegan()
        set.readBegan()
        set.changed(stopped("bob", at: 2000), clock: clock)
        set.readFailed()
        set.snapshotRead(snapshot(at: 1000, ["bob"]), clock: clock)
        #expect(set.isEmpty && !set.isReading)
        set.readBegan()
        set.snapshotRead(snapshot(at: 1500, ["bob"]), clock: clock)
        #expect(set.users == ["bob"])
    }

    @Test("while Redis's clock is an hour ahead of the estimate, typing ends 3 s after it was received")
    func clockSetForward() {
        var set = TypistSet()
        set.changed(typing("bob", at: 3_600_000, for: 3000), clock: clock, at: at(.seconds(1)))
        #expect(set.users == ["bob"])
        set.snapshotRead(snapshot(at: 3_600_100, ["bob", "carol"]), clock: clock, at: at(.seconds(1)))
        #expect(set.users == ["bob", "carol"])
        set.timePassed(at: at(.seconds(4)))
        #expect(set.isEmpty)
    }

    private func typing(
        _ user: UserID, at time: Int64, for milliseconds: Int64, kind: TypingKind = .typing
    ) -> TypingChange {
        TypingChange(user: user, typing: true, expiresIn: milliseconds, at: redis(time), kind: kind)
    }

    private func stopped(_ user: UserID, at time: Int64) -> TypingChange {
        TypingChange(user: user, typing: false, expiresIn: nil, at: redis(time))
    }

    private func snapshot(at time: Int64, _ users: [UserID]) -> RoomSnapshot {
        let typists = users.map { RoomSnapshot.Entry(user: $0, expiry: redis(time + 3000), name: nil) }
        return RoomSnapshot(time: redis(time), isManaged: false, admitted: [], typists: typists, members: nil)
    }
}

extension TypistSet {
    fileprivate var users: [UserID] { typists.map(\.user) }

    /// Applies a change at the moment at which it was published.
    fileprivate mutating func changed(_ change: TypingChange, clock: RedisClock) {
        changed(change, clock: clock, at: clock.instant(of: change.at))
    }

    /// Applies a snapshot at the moment at which it was read.
    fileprivate mutating func snapshotRead(_ snapshot: RoomSnapshot, clock: RedisClock) {
        snapshotRead(snapshot, clock: clock, at: clock.instant(of: snapshot.time))
    }
}
