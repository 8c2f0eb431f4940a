import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

/// Reads that count regardless of the version of the record.
@Suite struct AuthoritativeReadStories {
    /// Regression: two such reads overlapped and kept each other from counting. The user was read twice per round trip
    /// forever, and observers kept seeing an old status.
    @Test("changes during an authoritative read lead to one more, and then the record is shown")
    func overlapping() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redis.setClock(by: .seconds(-600))
        stage.heartbeat()
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        // Its version is ahead of the clock; that of the next record is not.
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
    /// Redis answers the last request before the earlier ones.
    fileprivate func answerLast() { answer(asked.removeLast()) }
}
