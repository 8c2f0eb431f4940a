import RedisTwin
import RollcallProtocol
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
        stage.redisGoes()
        stage.redisReturns()
        stage.settle()
        stage.pass(.milliseconds(4900))
        stage.forgetWhatWasSaid()
        let before = stage.redisCost.lookups
        // The outage settles.
        stage.pass(.milliseconds(200), answering: false)
        stage.heartbeat()
        #expect(stage.asked.count == 1)
        for state in [DeviceState.idle, .background] {
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
        #expect(stage.heard(by: bob).statuses.last == "alice offline")
    }
}

extension Stage {
    /// Redis answers the last request before the earlier ones.
    fileprivate func answerLast() { answer(asked.removeLast()) }
}
