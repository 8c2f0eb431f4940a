import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct WatchTests {
    @Test("of published changes the newest counts, in any order of arrival")
    func newest() {
        let watch = shown(.online, version: 10)
        hear(.offline, version: 12, by: watch)
        hear(.online, version: 11, by: watch)
        #expect(watch.known?.version == 12)
        #expect(watch.news()?.status == .offline)
        hear(.away, version: 12, by: watch)
        #expect(watch.news() == nil, "the same version is no news")
    }

    @Test("after Redis's clock was set back, a record that is made again is newer, and otherwise versions decide")
    func clockSetBack() {
        let watch = shown(.offline, version: 10_000)
        hear(.online, version: 9_000, by: watch, at: 2_000)
        #expect(watch.known?.version == 10_000)
        hear(.online, version: 2_001, by: watch, at: 2_000)
        #expect(watch.news()?.status == .online && watch.known?.version == 2_001)
        hear(.away, version: 1_999, by: watch, at: 2_000)
        #expect(watch.known?.version == 2_001)
    }

    @Test("an older change after a newer one is ignored")
    func older() {
        let watch = shown(.online, version: 10)
        hear(.offline, version: 20, by: watch)
        #expect(watch.news()?.status == .offline)
        hear(.online, version: 15, by: watch)
        #expect(watch.news() == nil && watch.known?.presence.status == .offline, "it is older than the known record")
        hear(.online, version: 21, by: watch)
        #expect(watch.news()?.version == 21)
    }

    @Test("a change that looks the same is not sent, not even later")
    func looksTheSame() {
        let watch = shown(.online, version: 10)
        hear(.online, version: 11, by: watch)
        #expect(watch.news() == nil)
        hear(.offline, version: 12, by: watch)
        #expect(watch.news() != nil)
        #expect(watch.news() == nil)
    }

    @Test("nothing is shown before the first snapshot, and changes received before it count")
    func beforeTheSnapshot() {
        let watch = Watch(user: "alice", number: 0, .none)
        hear(.online, version: 10, by: watch)
        #expect(watch.news() == nil)
        watch.channelConfirmed()
        _ = watch.readBegan()
        read(.online, version: 10, by: watch)
        _ = watch.snapshotKnown()
        #expect(
            watch.news() == nil
                && watch.shownLook
                    == Presence(user: "alice", status: .online, lastSeen: nil, updatedAt: nil, version: 0).look
        )
    }

    @Test("an authoritative read counts, whatever was known, and an ordinary one if it is newer")
    func read() {
        let watch = shown(.online, version: 10)
        for _ in 1...2 { #expect(watch.readBegan() == false) }
        read(.offline, version: 7, by: watch)
        #expect(watch.news() == nil)
        read(.offline, version: 7, isAuthoritative: true, by: watch)
        #expect(watch.news()?.status == .offline)
    }

    @Test("an authoritative read starts when no other read is in flight, and does not count if a change came meanwhile")
    func authoritativeReads() {
        let watch = shown(.online, version: 10)
        #expect(watch.readBegan() == false)
        watch.nextRead(isAuthoritative: true)
        #expect(watch.readBegan() == nil)
        hear(.away, version: 11, by: watch)
        #expect(read(.online, version: 10, by: watch) == .now)
        #expect(watch.readBegan() == true)
        #expect(watch.readBegan() == false)
        watch.nextRead(isAuthoritative: true)
        #expect(watch.readBegan() == nil)
        #expect(read(.online, version: 10, by: watch) == .none, "another is under way")
        #expect(watch.readFailed(isAuthoritative: false) == .now)
        #expect(watch.readBegan() == true)
        hear(.away, version: 12, by: watch)
        #expect(read(.online, version: 10, isAuthoritative: true, by: watch) == .now)
        #expect(watch.known?.presence.status == .away && watch.readBegan() == true)
        #expect(read(.online, version: 10, isAuthoritative: true, by: watch) == .none)
        #expect(watch.known?.presence.status == .online)
    }

    private func shown(_ status: PresenceStatus, version: Int64) -> Watch {
        let watch = Watch(user: "alice", number: 0, .none)
        watch.channelConfirmed()
        _ = watch.readBegan()
        read(status, version: version, by: watch)
        _ = watch.snapshotKnown()
        return watch
    }

    /// Redis answers a read of alice.
    @discardableResult
    private func read(
        _ status: PresenceStatus, version: Int64, isAuthoritative: Bool = false, by watch: Watch
    ) -> Watch.NextRead {
        var record = PresenceRecord(
            user: "alice", devices: [:], lastSeen: nil, updatedAt: redis(version), version: version)
        record.countedStatus = status
        return watch.read(record, [:], isAuthoritative: isAuthoritative, state(at: 1000).judgement).next
    }

    private func hear(_ status: PresenceStatus, version: Int64, by watch: Watch, at time: Int64 = 1000) {
        let presence = Presence(
            user: "alice", status: status, lastSeen: nil, updatedAt: redis(version), version: version)
        #expect(watch.changed(PresenceChange(presence), state(at: time), at: at(.zero)))
    }

    /// What a worker knows of Redis at this time.
    private func state(at time: Int64) -> RedisState {
        RedisState(
            worker: "w1", lease: .seconds(5), heartbeat: .seconds(1),
            clock: RedisClock(time: redis(time), sent: at(.zero)))
    }
}

extension Watch {
    fileprivate func news() -> Presence? { news(at: at(.zero), every: .zero) }
}
