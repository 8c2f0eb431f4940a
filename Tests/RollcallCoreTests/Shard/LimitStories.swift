// The limits of a session, and that they are counted.

import RollcallProtocol
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

    @Test func `whoever names users faster than the budget allows waits, and is answered`() {
        var settings = settings
        settings.limits.watchedUsers = 200
        let stage = Stage(settings)
        let alice = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        // Each counts as two messages, of 50.
        for number in 0..<29 {
            stage.say(.get(Array(users.prefix(40))), id: .integer(Int64(number)), on: alice)
            stage.settle()
        }
        #expect(stage.limitsHit[alice] == [.messageRate])
        #expect(stage.shard.heldMessageCount(of: alice) == 4)
        for _ in 0..<10 {
            stage.pass(.milliseconds(100))
            stage.settle()
        }
        #expect(stage.heard(by: alice).errors.isEmpty && stage.shard.heldMessageCount(of: alice) == 0)
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
        for (end, reconnect) in [(SessionEnd.tooManySessions, false), (.busy(), true)] {
            let key = stage.connect()
            stage.proof = .failure(ProofRefusal(end, endsWelcomed: true))
            stage.say(.hello(.init(token: "alice", device: "phone")), on: key)
            let goodbyes = stage.heard(by: key).compactMap {
                if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
            }
            #expect(goodbyes.map(\.reconnect) == [reconnect])
            #expect(stage.closed[key] == end.code)
        }
    }
}
