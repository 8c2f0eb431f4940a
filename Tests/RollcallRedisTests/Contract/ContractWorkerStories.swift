// Leases, and how other workers take over from a dead one, with a real Redis and with its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import Testing

@Suite(.serialized) struct ContractWorkerStories {
    private let aa = Session("aa").name

    @Test(arguments: Party.allCases) func anIncarnationBeginsOnceAndIsNeverRevived(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await redis.heartbeat(.renew(w1), lease: .seconds(5)).held == false)
        let begun = try await redis.heartbeat(.begin(w1), lease: .seconds(5))
        #expect(begun.held && begun.leases == [w1: begun.time.advanced(by: .seconds(5))])
        #expect(try await redis.heartbeat(.begin(w1), lease: .seconds(5)).held == false)
        let renewed = try await redis.heartbeat(.renew(w1), lease: .seconds(9))
        #expect(renewed.held && renewed.leases == [w1: renewed.time.advanced(by: .seconds(9))])

        let ended = try await redis.heartbeat(.end(w1, after: .milliseconds(20)), lease: .seconds(5))
        #expect(ended.held && ended.leases == [w1: ended.time.advanced(by: .milliseconds(20))])
        try await redis.wait(until: ended.time.advanced(by: .milliseconds(21)))
        #expect(try await redis.heartbeat(.renew(w1), lease: .seconds(5)).held == false)
        #expect(try await redis.standing(of: w1).beat == ended.time)
        #expect(try await redis.heartbeat(.begin(w2), lease: .seconds(5)).leases.count == 2)
    }

    @Test(arguments: Party.allCases) func onlyTheDeadAreForgotten(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.heartbeat(.begin(w1), lease: .seconds(60))
        #expect(try await redis.forget(w1) == false)
        let ended = try await redis.heartbeat(.end(w1, after: .zero), lease: .seconds(60))
        try await redis.wait(until: ended.time.advanced(by: .milliseconds(1)))
        #expect(try await redis.forget(w1))
        #expect(try await redis.keys().isEmpty)
        #expect(try await redis.forget(w1), "what is not known is forgotten")
    }

    @Test(arguments: Party.allCases) func sessionsAreListedInTimeAndStruckOff(party: Party) async throws {
        let redis = try await party.open()
        let past = try await redis.time().advanced(by: .milliseconds(-1))
        #expect(try await redis.record([aa], of: w1, until: past) == false)
        #expect(try await redis.keys().isEmpty)
        #expect(try await redis.record([aa, aa], of: w1, until: .never))
        #expect(try await redis.keys()["worker:{w1.aaaa}:sessions"]?.content == ["alice phone aa"])
        try await redis.unrecord([.session(aa)], of: w1)
        try await redis.unrecord([.session(aa)], of: w1)
        #expect(try await redis.keys().isEmpty)
    }

    @Test(arguments: Party.allCases) func oneSweeperAtATimeAndForASecond(party: Party) async throws {
        let redis = try await party.open()
        let names = (0..<7).map { Session("s\($0)").name }
        #expect(try await redis.record(names, of: w1, until: .never))
        let begun = try await redis.time()
        let batch = try #require(try await redis.claimSweep(of: w1, by: w2, limit: 3))
        #expect(batch.count == 3 && Set(batch).isSubset(of: names.map { .session($0) }))
        let other = try await redis.claimSweep(of: w1, by: w3, limit: 3)
        let isInTime = try await redis.time() < begun.advanced(by: .seconds(1))
        #expect(other == nil || !isInTime)
        #expect(try await redis.claimSweep(of: w1, by: w2, limit: 10)?.count == 7 || !isInTime, "one's own goes on")
        let claimed = try await redis.time()
        try await redis.wait(until: claimed.advanced(by: .milliseconds(1001)))
        #expect(try await redis.claimSweep(of: w1, by: w3, limit: 10)?.count == 7)
        #expect(try await redis.claimSweep(of: w3, by: w2, limit: 10) == [])
    }

    @Test(arguments: Party.allCases) func aSweepLooksAgain(party: Party) async throws {
        let redis = try await party.open()
        let written = try await redis.write(Session("aa").says(.active, 7))
        _ = try await redis.published()
        let other = Session("bb").name
        #expect(try await redis.sweep(aa, of: w2, lastBeat: nil, until: .never) == .kept)
        #expect(try await redis.sweep(other, of: w1, lastBeat: nil, until: .never) == .kept)
        #expect(try await redis.sweep(aa, of: w1, lastBeat: nil, until: written.time.earlier) == .expired)
        #expect(try await redis.published().isEmpty)
        #expect(try await redis.sweep(aa, of: w1, lastBeat: nil, until: .never) == .swept)
        #expect(try await redis.sweep(aa, of: w1, lastBeat: nil, until: .never) == .kept, "it is gone already")

        let heard = try await redis.published()
        guard case .presence(let change, devices: 0)? = heard.first, heard.count == 1 else {
            Issue.record("\(heard)")
            return
        }
        #expect(change.presence.status == .offline && change.presence.lastSeen == written.time)
        let again = Session("aa", worker: w2, began: written.began)
        #expect(try await redis.write(again.says(.active, 7)).outcome == .done)
        #expect(try await redis.write(again.says(.active, 8)).outcome == .written)
    }

    @Test(arguments: Party.allCases) func aSweptDeviceWasSeenUntilItsLossOrTheLastBeat(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        func seen(_ state: DeviceState, lost: Timestamp?, beat: Timestamp?) async throws -> Timestamp? {
            let device = DeviceRecord(
                state: state, incarnation: w1, began: time, session: SessionID(random: "aa"), sequence: 1,
                since: time, lost: lost)
            try await redis.flush()
            try await redis.plant(
                PresenceRecord(
                    user: alice, devices: [phone: device], lastSeen: nil, updatedAt: time, version: 1))
            #expect(try await redis.sweep(aa, of: w1, lastBeat: beat, until: .never) == .swept)
            return try await redis.presence(of: [alice], known: KnownWorkers()).records[0].lastSeen
        }
        let (lost, beat) = (time.advanced(by: .seconds(-9)), time.advanced(by: .seconds(-6)))
        #expect(try await seen(.active, lost: nil, beat: beat) == beat)
        #expect(try await seen(.idle, lost: lost, beat: beat) == lost)
        #expect(try await seen(.background, lost: nil, beat: beat) == nil)
        #expect(try await seen(.active, lost: nil, beat: nil) == nil)
        let latest = try #require(try await seen(.active, lost: nil, beat: .never))
        #expect(latest >= time && latest < .never, "a beat from the future is now")
    }

    @Test(arguments: Party.allCases) func aBatchOfTheDeadIsSweptAndStruckOff(party: Party) async throws {
        let redis = try await party.open()
        let names = [aa, Session("bb", user: bob).name]
        for name in names {
            _ = try await redis.write(Session(name.session.random.string, user: name.user).says(.active, 1))
        }
        #expect(try await redis.record(names, of: w1, until: .never))
        let items = names.map(ListItem.session)
        let beat = try await redis.heartbeat(.begin(w1), lease: .seconds(60))
        #expect(try await redis.sweep(items, of: w1, until: .never) == false, "the living are not swept")
        #expect(try await redis.keys()["worker:{w1.aaaa}:sessions"]?.content.count == 2)
        let ended = try await redis.heartbeat(.end(w1, after: .zero), lease: .seconds(60))
        try await redis.wait(until: ended.time.advanced(by: .milliseconds(1)))
        #expect(try await redis.sweep(items, of: w1, until: beat.time.earlier) == false, "too late")
        #expect(try await redis.keys()["worker:{w1.aaaa}:sessions"]?.content.count == 2)
        #expect(try await redis.sweep(items, of: w1, until: .never))
        #expect(try await redis.keys()["worker:{w1.aaaa}:sessions"] == nil)
        let records = try await redis.presence(of: [alice, bob], known: KnownWorkers()).records
        #expect(records.map { $0.devices[phone]?.state } == [nil, nil])
        #expect(records.map(\.lastSeen) == [ended.time, ended.time])
    }
}

extension Timestamp {
    fileprivate var earlier: Timestamp { advanced(by: .milliseconds(-1)) }
}
