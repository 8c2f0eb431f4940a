import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct WatchTests {
    @Test("of published changes the newest counts, in any order of arrival")
    func newest() {
        var watch = shown(.online, version: 10)
        watch.changed(presence(.offline, version: 12))
        watch.changed(presence(.online, version: 11))
        #expect(watch.presence?.version == 12)
        #expect(watch.news()?.status == .offline)
        watch.changed(presence(.away, version: 12))
        #expect(watch.news() == nil, "the same version is no news")
    }

    @Test("a change that looks the same is not sent, not even later")
    func looksTheSame() {
        var watch = shown(.online, version: 10)
        watch.changed(presence(.online, version: 11))
        #expect(watch.news() == nil)
        watch.changed(presence(.offline, version: 12))
        #expect(watch.news() != nil)
        #expect(watch.news() == nil)
    }

    @Test("nothing is shown before the first snapshot, and changes received before it count")
    func beforeTheSnapshot() {
        var watch = Watch(user: "alice")
        watch.changed(presence(.online, version: 10))
        #expect(watch.news() == nil)
        watch.read(Watch.Reading(presence: presence(.online, version: 10)))
        _ = watch.snapshotKnown()
        #expect(watch.news() == nil && watch.shown?.status == .online)
    }

    @Test("the result of a read counts, whatever was known")
    func read() {
        var watch = shown(.online, version: 10)
        watch.read(Watch.Reading(presence: presence(.offline, version: 7)))
        #expect(watch.news()?.status == .offline)
    }

    @Test("after Redis's clock was set back, the next change counts whatever its version, and later ones by theirs")
    func clockSetBack() {
        var watch = shown(.online, version: 1000)
        watch.changed(presence(.offline, version: 10))
        #expect(watch.news() == nil, "it is older")
        watch.clockSetBack()
        watch.changed(presence(.offline, version: 10))
        #expect(watch.news()?.status == .offline)
        watch.changed(presence(.online, version: 9))
        #expect(watch.news() == nil)
        watch.clockSetBack()
        watch.read(Watch.Reading(presence: presence(.away, version: 5)))
        #expect(watch.news()?.status == .away)
        watch.changed(presence(.online, version: 4))
        #expect(watch.news() == nil, "what was read since counts by its version")
    }

    @Test("an authoritative read starts when no other read is in flight, and requests made meanwhile share it")
    func authoritativeReads() {
        var watch = shown(.online, version: 10)
        #expect(watch.readBegan()?.isAuthoritative == false)
        watch.nextReadIsAuthoritative = true
        #expect(watch.readBegan() == nil)
        watch.heard()
        var mayBegin = watch.readEnded()
        #expect(mayBegin)
        #expect(watch.readBegan()?.isAuthoritative == true && !watch.heardMeanwhile)
        #expect(watch.readBegan()?.isAuthoritative == false)
        watch.nextReadIsAuthoritative = true
        #expect(watch.readBegan() == nil)
        mayBegin = watch.readEnded()
        #expect(!mayBegin, "another is under way")
        mayBegin = watch.readEnded()
        #expect(mayBegin)
        #expect(watch.readBegan()?.isAuthoritative == true)
        mayBegin = watch.readEnded()
        #expect(!mayBegin, "nothing waits")
    }

    private func shown(_ status: PresenceStatus, version: Int64) -> Watch {
        var watch = Watch(user: "alice")
        watch.read(Watch.Reading(presence: presence(status, version: version)))
        _ = watch.snapshotKnown()
        return watch
    }

    private func presence(_ status: PresenceStatus, version: Int64) -> Presence {
        Presence(user: "alice", status: status, lastSeen: nil, updatedAt: redis(version), version: version)
    }
}

extension Watch {
    fileprivate mutating func news() -> Presence? { news(next: Instant(nanoseconds: 0)) }
}
