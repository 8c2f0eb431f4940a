// What operators request of Redis, and their actions on a user.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreOperatorTests {
    private func report(_ store: StoreUnderTest, own: Incarnation? = nil) async throws -> UserReport {
        try await store.call { $0.report(on: alice, own: own, reply: $1) }
    }

    private func erase(_ store: StoreUnderTest) async throws -> Bool {
        let report = try await report(store)
        return try await store.call { $0.erase(report, reply: $1) }
    }

    @discardableResult
    private func begin(
        _ incarnation: Incarnation, on store: StoreUnderTest, lease: Duration, figures: WorkerFigures = WorkerFigures()
    ) async throws -> LeaseSnapshot {
        var beat = Heartbeat(
            mode: .begin, incarnation: incarnation, lease: lease, host: "h", pid: 7, edge: "ws://e",
            startedAt: Timestamp(milliseconds: 5), sessions: 3, version: "1")
        beat.figures = figures
        return try await store.call { [beat] in $0.heartbeat(beat, reply: $1) }
    }

    @Test func aReportHasTheRecordAndWhoAnswersForIt() async throws {
        let store = try await StoreUnderTest()
        try await begin(w1, on: store, lease: .seconds(60))
        try await store.write(Session("aa").says(.active, 1))
        try await store.write(Session("bb", device: tablet, worker: w2).says(.idle, 1))
        let report = try await report(store, own: w1)

        #expect(report.storedStatus == "online")
        #expect(report.present.map(\.device) == [phone, tablet])
        #expect(report.workers.workers.map(\.incarnation) == [w1, w2])
        let (first, second) = (report.workers.workers[0], report.workers.workers[1])
        #expect(first.host == "h" && first.pid == 7 && first.edge == "ws://e" && first.sessions == 3)
        #expect(first.startedAt == Timestamp(milliseconds: 5) && first.version == "1" && !first.isDraining)
        #expect(report.workers.standings[w1]?.isDead == false)
        #expect(second.leaseEnd == nil && report.workers.standings[w2]?.isDead == true)
        #expect(report.revoked == nil)
    }

    @Test func aReportOnNobodyIsEmptyAndForeignKeysCountAsNone() async throws {
        let store = try await StoreUnderTest()
        #expect(try await report(store).storedStatus == nil)
        try await store.command("SET", "presence:{alice}", "x")
        try await store.command("SADD", "revoked:{alice}", "x")
        let report = try await report(store)
        #expect(report.storedStatus == nil && report.record.devices.isEmpty && report.revoked == nil)
    }

    @Test func whatAWorkerDoesStandsInItsHashAndWhatItDoesNotSayIsUnknown() async throws {
        let store = try await StoreUnderTest()
        var figures = WorkerFigures()
        for (number, field) in WorkerFigures.fields.enumerated() { figures[keyPath: field.value] = Int64(number + 7) }
        try await begin(w1, on: store, lease: .seconds(60), figures: figures)
        try await begin(w2, on: store, lease: .seconds(60))
        let report: WorkersReport = try await store.call { $0.workers(reply: $1) }
        let told = Dictionary(uniqueKeysWithValues: report.workers.map { ($0.incarnation, $0.figures) })
        #expect(told == [w1: figures, w2: WorkerFigures()])
        #expect(try await store.command("HGET", "{workers}:\(w1.name)", "round_trip_us").string == "10")
    }

    @Test func allWorkersAreReportedTheDeadIncluded() async throws {
        let store = try await StoreUnderTest()
        try await begin(w1, on: store, lease: .seconds(60))
        try await begin(w2, on: store, lease: .milliseconds(1))
        try await store.command("PING")
        let report: WorkersReport = try await store.call { $0.workers(reply: $1) }
        #expect(Set(report.workers.map(\.incarnation)) == [w1, w2])
        #expect(report.workers.allSatisfy { $0.host == "h" })
    }

    @Test func whatIsErasedIsGoneAndTold() async throws {
        let store = try await StoreUnderTest()
        let subscriber = try await RawSubscriber(to: store)
        let session = Session("aa")
        let _: Bool = try await store.call { $0.record([session.name], of: w1, until: .never, reply: $1) }
        try await store.write(session.says(.active, 1))
        let _: Timestamp = try await store.call { $0.revokeTokens(of: alice, reply: $1) }
        #expect(try await report(store).revoked != nil)
        #expect(try await erase(store), "its worker has no lease: nobody holds the device")

        #expect(try await store.command("KEYS", "*").array?.map(\.string) == ["revoked:{alice}"])
        let heard = try await subscriber.heard(2, on: "presence:{alice}")
        #expect(heard[1].contains(#""status":"offline","last_seen":null"#))
    }

    @Test func nothingIsErasedUnderASession() async throws {
        let store = try await StoreUnderTest()
        try await begin(w1, on: store, lease: .seconds(60))
        try await store.write(Session("aa").says(.active, 1))
        #expect(try await !erase(store))
        #expect(try await report(store).storedStatus == "online")
        try await store.write(Session("aa").says(nil, 2))
        #expect(try await erase(store))
        #expect(try await report(store).storedStatus == nil)
    }

    /// Regression: the revocation was erased too, and a worker that had been cut off wrote the user again.
    @Test func aSessionOfBeforeDoesNotBringAnErasedUserBack() async throws {
        let store = try await StoreUnderTest()
        var write = Session("aa").says(.active, 1)
        write.issued = Timestamp(milliseconds: 1)
        try await store.write(write)
        let _: Timestamp = try await store.call { $0.revokeTokens(of: alice, reply: $1) }
        #expect(try await erase(store))
        write.sequence = 2
        #expect(try await store.write(write).outcome == .revoked)
        #expect(try await report(store).storedStatus == nil)
    }

    @Test func aRevocationIsKnownAsLongAsARecord() async throws {
        let store = try await StoreUnderTest()
        let revoked: Timestamp = try await store.call { $0.revokeTokens(of: alice, reply: $1) }
        #expect(try await report(store).revoked == revoked)
        let days = try await store.timeToLive("revoked:{alice}") / 86_400_000
        #expect((29...30).contains(days))
    }

    @Test func aWorkerHearsWhomItIsToSendAway() throws {
        let notice = WorkerNotice.sentAway(user: alice, device: phone, session: "17-aa")
        #expect(notice.payload == #"{"sent_away":"alice phone 17-aa"}"#)
        #expect(WorkerNotice(payload: notice.payload.utf8) == notice)
        #expect(notice.session == SessionName(user: alice, device: phone, session: SessionID(random: "aa")))
        #expect(WorkerNotice(payload: Array(#"{"sent_away":"alice phone"}"#.utf8)) == nil)
    }
}
