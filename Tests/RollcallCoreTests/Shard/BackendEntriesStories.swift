// What apps' servers say of who is here: who holds it, who ends it, and what becomes of it when something fails.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite struct BackendEntriesStories {
    private let name = EntryName(ofServersFor: "agent", in: "doc")
    private let never = Timestamp(milliseconds: 1 << 50)
    private let w3 = Incarnation(name: "w3.c")

    private func says(
        _ stage: Stage, _ data: String? = "{}", _ user: UserID = "agent", for duration: Duration = .seconds(10)
    ) -> Answer {
        let (answer, data) = (Answer(), data.map { HereData(stored: ByteString($0))! })
        stage.event { shard, now in
            if let data {
                shard.enter(user, in: "doc", .init(data: data), for: duration, at: now) { answer.result = $0 }
            } else {
                shard.exit(user, in: "doc", at: now) { answer.result = $0 }
            }
        }
        return answer
    }

    private final class Answer {
        var result: Result<Void, BackendRefusal>?

        var text: String {
            switch result {
            case .success: "done"
            case .failure(let refusal): "\(refusal)"
            case nil: "none"
            }
        }
    }

    private func lines(_ stage: Stage) -> [HereLine] { stage.redis.here["doc"]?["agent"]?.lines ?? [] }

    /// What another worker writes.
    private func write(
        _ stage: Stage, _ data: String?, by worker: Incarnation = w2, lasts: Duration = .seconds(60)
    ) -> HereWritten {
        stage.redis.write(
            HereWrite(
                entry: name, content: data.map { .init(data: HereData(stored: ByteString($0))!) }, incarnation: worker,
                sequence: 0, until: never, lasts: lasts))
    }

    @Test("it is listed, written, and ends in its time; then nothing of it is left")
    func life() {
        let stage = Stage()
        let answer = says(stage)
        #expect(stage.asked.map(\.request) == [.listEntry(name)])
        stage.settle()
        #expect(answer.text == "done" && lines(stage).map(\.incarnation) == [stage.incarnation])
        stage.pass(.seconds(9))
        #expect(lines(stage).count == 1 && stage.shard.entryCount == 1)
        stage.pass(.seconds(2))
        #expect(lines(stage).isEmpty)
        stage.pass(.seconds(5))
        #expect(stage.redis.entries.isEmpty && stage.shard.entryCount == 0)
        stage.redisGoes()
        #expect(says(stage).text == "unavailable" && says(stage, nil).text == "unavailable")
    }

    /// Regression: an end that Redis refused was never repeated, and the user was shown until the worker stopped.
    @Test("an end that Redis refuses is repeated, also after the lease was lost", arguments: [true, false])
    func refusedEnd(leaseStands: Bool) {
        let stage = Stage()
        _ = says(stage, for: .seconds(3))
        stage.settle()
        stage.redisRefusesWrites()
        stage.pass(.seconds(4))
        #expect(lines(stage).count == 1)
        stage.redisTakesWrites(leaseStands: leaseStands)
        stage.settle()
        #expect(lines(stage).isEmpty)
        stage.pass(.seconds(6))
        #expect(stage.redis.entries[stage.incarnation!] == nil && stage.shard.entryCount == 0)
    }

    /// Regression: a replacement that failed took the end of what it would have replaced with it.
    @Test(
        "a replacement that fails leaves what was said before, with its end",
        arguments: [StoreFailure.withoutEffect, .unknown])
    func failedReplacement(failure: StoreFailure) {
        let stage = Stage()
        _ = says(stage, #"{"a":1}"#)
        stage.settle()
        let answer = says(stage, #"{"b":2}"#, for: .seconds(100))
        stage.answer()
        let write = stage.asked.removeFirst()
        if failure == .unknown { stage.fail(write) } else { stage.refuse(write) }
        stage.settle()
        #expect(answer.text == "unavailable")
        #expect(lines(stage).map { $0.content.data?.text } == [#"{"a":1}"#])
        stage.pass(.seconds(11))
        #expect(lines(stage).isEmpty)
    }

    @Test("if only the reply was lost, what is stored counts, with its end")
    func lostReply() {
        let stage = Stage()
        let answer = says(stage, for: .seconds(20))
        stage.answer()
        let write = stage.asked.removeFirst()
        _ = stage.reply(to: write)
        stage.fail(write)
        #expect(answer.text == "unavailable" && lines(stage).count == 1)
        stage.pass(.seconds(19))
        #expect(lines(stage).count == 1)
        stage.pass(.seconds(3))
        #expect(lines(stage).isEmpty)
    }

    /// Regression: the end that another worker was told was undone by the next reconnect.
    @Test("what another worker was told to end, or to replace, stays so", arguments: [true, false])
    func elsewhere(isHeard: Bool) {
        let stage = Stage()
        stage.others[w2] = never
        _ = says(stage, for: .seconds(100))
        stage.settle()
        let ended = write(stage, nil)
        #expect(ended.former?.incarnation == stage.incarnation)
        if isHeard {
            stage.redis.announce(.hereEnded(name, upTo: ended.former!.sequence), to: stage.incarnation!)
            stage.settle()
        }
        stage.redisGoes()
        stage.redisReturns()
        stage.settle()
        stage.pass(.seconds(7))
        #expect(lines(stage).isEmpty && stage.shard.entryCount == 0)
        _ = says(stage, for: .seconds(100))
        stage.settle()
        _ = write(stage, #"{"b":2}"#)
        stage.redisGoes()
        stage.redisReturns()
        stage.settle()
        #expect(lines(stage).map(\.incarnation) == [w2])
    }

    @Test("an end at this worker reaches the one that was told before")
    func told() {
        let stage = Stage()
        let held = write(stage, "{}")
        let answer = says(stage, nil)
        stage.answer()
        #expect(stage.asked.map(\.request) == [.announce(.hereEnded(name, upTo: held.sequence!))])
        stage.settle()
        #expect(answer.text == "done" && lines(stage).isEmpty)
    }

    @Test("what Redis has lost is written again, with what is left of its time")
    func lostData() {
        let stage = Stage()
        _ = says(stage, for: .seconds(20))
        stage.settle()
        stage.pass(.seconds(5))
        stage.redisGoes()
        stage.redis.flush()
        stage.redisReturns()
        stage.settle()
        #expect(lines(stage).map { $0.ends?.since(stage.redis.time).milliseconds } == [15_000])
        stage.pass(.seconds(16))
        #expect(lines(stage).isEmpty)
    }

    @Test("what a dead worker held is adopted before it is swept, but not what has ended or was written again")
    func adopted() {
        let stage = Stage()
        _ = write(stage, "{}", lasts: .seconds(20))
        var isDone: Bool?
        func adopt(_ names: [EntryName]) {
            stage.event { shard, _ in shard.adopt(names.map { .entry($0) }, of: w2) { isDone = $0 } }
            stage.settle()
        }
        let ended = EntryName(ofServersFor: "other", in: "doc")
        _ = stage.redis.write(
            HereWrite(
                entry: ended, content: .init(), incarnation: w2, sequence: 0, until: never, lasts: .milliseconds(-1)))
        adopt([name, ended])
        #expect(isDone == true && lines(stage).map(\.incarnation) == [stage.incarnation])
        #expect(stage.redis.entries[stage.incarnation!] == [name])
        #expect(lines(stage).map { $0.ends?.since(stage.redis.time).milliseconds } == [20_000])
        stage.pass(.seconds(21))
        #expect(lines(stage).isEmpty)
        _ = write(stage, "{}", by: w3)
        adopt([name])
        #expect(isDone == true && lines(stage).map(\.incarnation) == [w3])
        _ = write(stage, "{}", by: w2)
        stage.redisRefusesWrites()
        adopt([name])
        #expect(isDone == false)
    }

    @Test("a reader leaves out what nobody has ended, and ends it; but not while an outage settles")
    func masked() {
        let stage = Stage()
        stage.others[w2] = never
        let bob = stage.enter("bob")
        stage.say(.join("doc", presence: false, here: true), on: bob)
        stage.settle()
        _ = write(stage, "{}", lasts: .seconds(3))
        stage.settle()
        #expect(stage.heard(by: bob).here.last == "1: agent{}")
        stage.heartbeat(afterGap: true)
        stage.pass(.seconds(4) + .milliseconds(500))
        #expect(stage.heard(by: bob).here == [] && lines(stage).count == 1, "Redis's clock may have been set")
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).here == ["0:"] && lines(stage).isEmpty)
    }

    @Test("if Redis's clock is set, ends are written again", arguments: [Duration.seconds(3600), .seconds(-3600)])
    func clock(step: Duration) {
        let stage = Stage()
        _ = says(stage, for: .seconds(20))
        stage.settle()
        stage.pass(.seconds(2))
        stage.redis.setClock(by: step)
        stage.heartbeat(afterGap: true)
        stage.settle()
        let rest = lines(stage).first?.ends?.since(stage.redis.time).milliseconds ?? 0
        #expect((17_000...18_000).contains(rest))
        stage.pass(.seconds(15))
        #expect(lines(stage).count == 1)
        stage.pass(.seconds(4))
        #expect(lines(stage).isEmpty)
    }

    @Test("what was said of an erased user ends; and a worker holds only so much")
    func erased() {
        var settings = ShardSettings()
        settings.bounds.backendEntries = 1
        let stage = Stage(settings)
        _ = says(stage)
        stage.settle()
        #expect(says(stage, "{}", "other").text == "tooMany")
        stage.event { $0.noticed(.erased("agent"), at: $1) }
        stage.settle()
        #expect(lines(stage).isEmpty)
        stage.redis.setMembers(["bob": ""], of: "doc")
        let refused = says(stage)
        stage.settle()
        #expect(refused.text == "notAMember" && lines(stage).isEmpty)
    }
}
