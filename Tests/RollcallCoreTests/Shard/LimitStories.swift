// The limits of a session, and that they are counted.

import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct LimitStories {
    private var settings: ShardSettings {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 100
        settings.limits.joinedConversations = 1
        settings.limits.messageBurst = 50
        return settings
    }
    private let users = (0..<100).map { UserID(stringLiteral: "u\($0)") }

    @Test func `whoever names users faster than they may be looked up is asked to slow down`() {
        let stage = Stage(settings)
        let alice = stage.enter("alice")
        stage.settle()
        for number in 0..<4 {
            stage.say(.get(users), id: .integer(Int64(number)), on: alice)
            stage.settle()
        }
        stage.forgetWhatWasSaid()
        stage.say(.get(users), id: "5", on: alice)
        stage.say(.watch(users), id: "6", on: alice)
        #expect(stage.heard(by: alice).errors == [.slowDown, .slowDown])
        #expect(stage.limitsHit[alice] == [.names, .names])
        #expect(stage.asked.isEmpty)
        stage.pass(.seconds(1))
        stage.say(.get(users), id: "7", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).answered == ["7"])
    }

    @Test func `a list that is watched already costs nothing to name`() {
        let stage = Stage(settings)
        let alice = stage.enter("alice")
        for number in 0..<20 { stage.say(.watch(users), id: .integer(Int64(number)), on: alice) }
        stage.settle()
        #expect(stage.heard(by: alice).acks.count == 20)
        #expect(stage.limitsHit.isEmpty)
    }

    @Test func `every limit that holds is counted before the session hears of it`() {
        let stage = Stage(settings)
        let (alice, silent) = (stage.enter("alice"), stage.connect())
        stage.settle()
        stage.say(.watch(users + ["u100"]), on: alice)
        stage.say(.join("c1", presence: false), on: alice)
        stage.say(.join("c2", presence: false), on: alice)
        for _ in 0..<60 { stage.say(.ping, on: alice) }
        stage.pass(.seconds(20))
        #expect(stage.limitsHit[alice] == [.watchedUsers, .joinedConversations, .messageRate])
        #expect(stage.closed[alice] == nil)
        #expect(stage.limitsHit[silent] == [.hello])
    }

    @Test func `a session that finds no seat is told whether to come again`() {
        let stage = Stage(settings)
        for (code, reconnect) in [(CloseCode.tooManySessions, false), (.busy, true)] {
            let key = stage.connect()
            stage.say(.hello(.init(token: "alice", device: "phone")), on: key)
            stage.event { $0.refused(key, code, at: $1) }
            let goodbyes = stage.heard(by: key).compactMap {
                if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
            }
            #expect(goodbyes.map(\.reconnect) == [reconnect])
            #expect(stage.closed[key] == code)
        }
    }
}
