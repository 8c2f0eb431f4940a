import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

/// Reads that count whatever the version of the record.
@Suite struct AuthoritativeReadStories {
    /// Two such reads overlapped and kept each other from counting: the user was read twice a round trip for ever, and
    /// what observers saw stayed old.
    @Test("changes during an authoritative read lead to one more, and then the record is shown")
    func overlapping() {
        var stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redis.setClock(by: .seconds(-600))
        stage.heartbeat()
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        // Its version is ahead of the clock, and that of the next record is not.
        stage.redis.records["alice"] = nil
        let before = stage.redisCost.lookups
        for state in [DeviceState.active, .background] {
            stage.say(.state(state), on: alice)
            stage.answerLast()
            stage.hear()
        }
        var answers = 0
        while !stage.asked.isEmpty, answers < 50 {
            stage.answer()
            answers += 1
        }
        #expect(stage.redisCost.lookups - before == 2 && answers == 2)
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }
}

extension Stage {
    /// Redis answers what was asked last, before what waits.
    fileprivate mutating func answerLast() { answer(asked.removeLast()) }
}
