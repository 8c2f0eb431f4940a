import RedisTwin
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

/// Random events in random order: afterwards, each observer's view equals the state of Redis, and nothing is left
/// behind.
@Suite struct RandomisedStories {
    private let users: [UserID] = ["alice", "bob", "carol"]
    private let conversations: [ConversationID] = ["c", "d"]

    @Test("after any events, views agree with Redis, each id is answered at most once, and nothing is left at the end")
    func convergence() throws {
        randomised("shard") { random in
            for _ in 0..<60 { play(events: 60, using: &random) }
        }
    }

    private func play(events: Int, using random: inout SeededGenerator) {
        let stage = Stage()
        var open: [Session] = []
        var asked: [Session: [MessageID]] = [:]
        for number in 0..<events {
            let id = MessageID.integer(Int64(number))
            switch Int.random(in: 0..<17, using: &random) {
            case 0, 1:
                let device: DeviceID = Bool.random(using: &random) ? "phone" : "laptop"
                open.append(stage.enter(users.randomElement(using: &random)!, device))
            case 2:
                guard let index = open.indices.randomElement(using: &random) else { break }
                stage.drop(open.remove(at: index))
            case 3: stage.incarnation == nil ? stage.redisReturns() : stage.redisGoes()
            case 4: stage.pass(.milliseconds(.random(in: 1...2000, using: &random)))
            case 5, 6: if stage.incarnation != nil { stage.settle() }
            case 7: if let key = open.randomElement(using: &random) { stage.stall(key) }
            case 8, 9: if let key = open.randomElement(using: &random) { stage.read(key) }
            case 10: if !stage.asked.isEmpty, stage.incarnation != nil { stage.answer() }
            default:
                guard let key = open.randomElement(using: &random), stage.closed[key] == nil else { break }
                stage.say(message(using: &random), id: id, on: key)
                asked[key, default: []].append(id)
            }
            open.removeAll { stage.closed[$0] != nil }
            checkCounts(stage.shard)
        }
        if stage.incarnation == nil { stage.redisReturns() }
        for key in open { stage.read(key) }
        stage.pass(.seconds(20))
        open.removeAll { stage.closed[$0] != nil }
        check(stage, open, asked)
        for key in open { stage.drop(key) }
        stage.pass(.seconds(20))
        #expect(stage.leftovers.isEmpty)
    }

    private func message(using random: inout SeededGenerator) -> ClientMessage {
        let user = users.randomElement(using: &random)!
        let conversation = conversations.randomElement(using: &random)!
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .watch([user])
        case 1: return .unwatch([user])
        case 2, 3: return .join(conversation, presence: Bool.random(using: &random))
        case 4: return .leave(conversation)
        case 5, 6: return .typing(conversation, Bool.random(using: &random))
        case 7: return .state(DeviceState.allCases.randomElement(using: &random)!)
        default: return .get([user])
        }
    }

    /// Checks that counters agree with what they count.
    private func checkCounts(_ shard: Shard) {
        #expect(shard.openSessionCount == shard.table.all.count { $0.phase == .open })
        #expect(shard.typistCount == shard.conversations.all.reduce(0) { $0 + $1.typing.told.count })
        #expect(shard.lingeringSessionCount >= 0)
    }

    private func check(_ stage: Stage, _ open: [Session], _ asked: [Session: [MessageID]]) {
        for key in open {
            let watched = key.watched.elements.map(\.user)
            let heard = stage.heard(by: key)
            #expect(Set(heard.answered) == Set(asked[key] ?? []) && heard.answered.count == asked[key]?.count ?? 0)
            for user in watched {
                let truth = stage.redis.record(of: user).presence(past: [:])
                let seen = heard.statuses.last { $0.hasPrefix("\(user) ") }
                #expect(seen == "\(user) \(truth.status.rawValue)")
            }
            let joined = key.joined
            #expect(Set(joined).count == joined.count)
            // A session that left a conversation receives nothing more about it, even if a user types there.
            for conversation in joined.map(\.conversation) {
                #expect(heard.typists(in: conversation).last == [])
            }
        }
    }
}
