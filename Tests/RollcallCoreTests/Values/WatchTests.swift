import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct WatchTests {
    @Test("of published changes the newest counts, in any order of arrival")
    func newest() {
        var watch = shown(.online, version: 10)
        watch.changed(change(.offline, version: 12), at: redis(1000))
        watch.changed(change(.online, version: 11), at: redis(1000))
        #expect(watch.presence?.version == 12)
        #expect(watch.news()?.status == .offline)
        watch.changed(change(.away, version: 12), at: redis(1000))
        #expect(watch.news() == nil, "the same version is no news")
    }

    @Test("after Redis's clock was set back, a record that is made again is newer, and otherwise versions decide")
    func clockSetBack() {
        var watch = shown(.offline, version: 10_000)
        watch.changed(change(.online, version: 9_000), at: redis(2_000))
        #expect(watch.presence?.version == 10_000)
        watch.changed(change(.online, version: 2_001), at: redis(2_000))
        #expect(watch.news()?.status == .online && watch.presence?.version == 2_001)
        watch.changed(change(.away, version: 1_999), at: redis(2_000))
        #expect(watch.presence?.version == 2_001)
    }

    @Test("an older change after a newer one is ignored")
    func older() {
        var watch = shown(.online, version: 10)
        watch.changed(change(.offline, version: 20), at: redis(1000))
        #expect(watch.news()?.version == 20)
        watch.changed(change(.online, version: 15), at: redis(1000))
        #expect(watch.news() == nil && watch.presence?.status == .offline, "it is older than the known record")
        watch.changed(change(.online, version: 21), at: redis(1000))
        #expect(watch.news()?.version == 21)
    }

    @Test("a change that looks the same is not sent, not even later")
    func looksTheSame() {
        var watch = shown(.online, version: 10)
        watch.changed(change(.online, version: 11), at: redis(1000))
        #expect(watch.news() == nil)
        watch.changed(change(.offline, version: 12), at: redis(1000))
        #expect(watch.news() != nil)
        #expect(watch.news() == nil)
    }

    @Test("nothing is shown before the first snapshot, and changes received before it count")
    func beforeTheSnapshot() {
        var watch = Watch(user: "alice")
        watch.changed(change(.online, version: 10), at: redis(1000))
        #expect(watch.news() == nil)
        watch.read(reading(.online, version: 10))
        _ = watch.snapshotKnown()
        #expect(watch.news() == nil && watch.shown?.status == .online)
    }

    @Test("the result of a read counts, whatever was known")
    func read() {
        var watch = shown(.online, version: 10)
        watch.read(reading(.offline, version: 7))
        #expect(watch.news()?.status == .offline)
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
        watch.read(reading(status, version: version))
        _ = watch.snapshotKnown()
        return watch
    }

    private func reading(_ status: PresenceStatus, version: Int64) -> Watch.Reading {
        Watch.Reading(
            known: Watch.Known(presence: presence(status, version: version), version: version, isStored: true))
    }

    private func change(_ status: PresenceStatus, version: Int64) -> PresenceChange {
        PresenceChange(presence(status, version: version))
    }

    private func presence(_ status: PresenceStatus, version: Int64) -> Presence {
        Presence(user: "alice", status: status, lastSeen: nil, updatedAt: redis(version), version: version)
    }
}

extension Watch {
    fileprivate mutating func news() -> Presence? { news(at: at(.zero), every: .zero) }
}
