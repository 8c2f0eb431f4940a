// The messages to the worker, and their order.

import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct AgendaTests {
    private var agenda = Agenda()

    private mutating func take(_ count: Int = 100) -> [ClientMessage] { agenda.take(count).map(\.message) }

    @Test("what is wanted is requested once, in one message for many users")
    mutating func asked() {
        for user in ["carol", "bob", "bob"] as [UserID] { agenda.users.want(user) }
        agenda.conversations.want("c42")
        #expect(take() == [.join("c42", presence: false), .watch(["bob", "carol"])])
        #expect(take().isEmpty)
        #expect(!agenda.hasMore)
    }

    @Test("what one tick undoes is never sent")
    mutating func undone() {
        agenda.users.want("bob")
        agenda.users.unwant("bob")
        #expect(take().isEmpty)
        agenda.users.want("bob")
        _ = take()
        agenda.users.unwant("bob")
        agenda.users.want("bob")
        #expect(take().isEmpty)
        agenda.users.unwant("bob")
        #expect(take() == [.unwatch(["bob"])])
    }

    @Test("a new connection sends everything wanted, and no old typing")
    mutating func reconnect() {
        agenda.users.want("bob")
        agenda.users.want("carol")
        agenda.conversations.want("c42")
        _ = take()
        agenda.users.unwant("carol")
        agenda.signalled(true, in: "c42")
        agenda.stateChanged(to: .idle)
        agenda.connectionLost()
        #expect(take() == [.join("c42", presence: false), .watch(["bob"])])
    }

    @Test("typing follows its join, is later sent before everything else, and only as the latest signal")
    mutating func typing() {
        agenda.signalled(true, in: "c42")
        agenda.conversations.want("c42")
        agenda.users.want("bob")
        #expect(take(2) == [.join("c42", presence: false), .typing("c42", true)])
        agenda.stateChanged(to: .background)
        agenda.tokenRefreshed("fresh")
        agenda.signalled(true, in: "c42")
        agenda.signalled(false, in: "c42")
        #expect(take() == [.typing("c42", false), .token("fresh"), .state(.background), .watch(["bob"])])
    }

    @Test("typing is not sent to a conversation that the worker does not admit the user to")
    mutating func typingRefused() {
        agenda.conversations.want("c42")
        _ = take()
        agenda.conversations.refused("c42")
        agenda.signalled(true, in: "c42")
        #expect(take().isEmpty)
        #expect(!agenda.hasMore)
    }

    @Test("typing in a conversation that cannot be joined because of the limit waits, and its stop ends it")
    mutating func typingBeyondTheLimit() {
        agenda.limitsLearnt(
            .init(watchedUsers: 1, joinedConversations: 1, messageBytes: 65_536, messageRate: 1, messageBurst: 1))
        agenda.conversations.want("c1")
        _ = take()
        agenda.conversations.want("c2")
        agenda.signalled(true, in: "c2")
        #expect(take().isEmpty)
        #expect(!agenda.hasMore, "nothing can be sent, however often it is tried")
        var stopped = agenda
        agenda.conversations.unwant("c1")
        #expect(take() == [.leave("c1"), .join("c2", presence: false), .typing("c2", true)])
        stopped.signalled(false, in: "c2")
        #expect(!stopped.hasMore)
        stopped.conversations.unwant("c1")
        #expect(stopped.take(100).map(\.message) == [.leave("c1"), .join("c2", presence: false)])
        #expect(!stopped.hasMore)
    }

    @Test("a stop that is awaited is sent with an id, whatever comes after it")
    mutating func awaitedStop() {
        let stop = StopID()
        agenda.conversations.want("c42")
        _ = take()
        agenda.signalled(true, in: "c42")
        agenda.signalled(false, in: "c42", awaited: stop)
        agenda.signalled(true, in: "c42")
        let requests = agenda.take(10)
        #expect(requests.map(\.message) == [.typing("c42", false), .typing("c42", true)])
        #expect(agenda.acknowledged(requests[0].id!) == .stop(stop))
        #expect(agenda.acknowledged(requests[0].id!) == nil, "each is answered once")
    }

    @Test("messages are limited to the size that the worker reads, and subscriptions to its limits")
    mutating func limits() {
        agenda.limitsLearnt(
            .init(watchedUsers: 5, joinedConversations: 1, messageBytes: 128 + 2 * 260, messageRate: 1, messageBurst: 1)
        )
        for user in ["a", "b", "c", "d", "e", "f"] as [UserID] { agenda.users.want(user) }
        for conversation in ["c1", "c2"] as [ConversationID] { agenda.conversations.want(conversation) }
        #expect(
            take() == [.join("c1", presence: false), .watch(["a", "b"]), .watch(["c", "d"]), .watch(["e"])])
        #expect(agenda.isBeyondLimits)
        #expect(!agenda.hasMore, "what cannot be sent is not waited for")
        agenda.users.unwant("a")
        agenda.conversations.unwant("c1")
        #expect(
            take() == [.leave("c1"), .unwatch(["a"]), .join("c2", presence: false), .watch(["f"])])
        #expect(!agenda.isBeyondLimits)
    }

    @Test("a budget of a few messages is respected, and the rest follows")
    mutating func budget() {
        for number in 0..<7 { agenda.conversations.want(try! ConversationID("c\(number)")) }
        #expect(take(3).count == 3)
        #expect(agenda.hasMore)
        #expect(take(3).count == 3)
        #expect(take(3).count == 1)
        #expect(take(0).isEmpty)
    }

    @Test("many are fetched in several messages of one call")
    mutating func fetches() {
        let users = (0..<70).map { try! UserID("u\($0)") }
        let fetch = FetchID()
        agenda.fetchWanted(fetch, of: users)
        let requests = agenda.take(100)
        #expect(requests.count == 3)
        #expect(
            requests.flatMap { request -> [UserID] in
                guard case .get(let some) = request.message else { return [] }
                return some
            } == users)
        for request in requests { #expect(agenda.fetch(of: request.id!) == fetch) }
        agenda.fetchEnded(fetch)
        #expect(agenda.fetch(of: requests[0].id!) == nil)
    }

    @Test("no more users are fetched at once than the worker serves per session; the rest follows the answers")
    mutating func fetchesAtOnce() {
        agenda.limitsLearnt(
            .init(
                watchedUsers: 5, joinedConversations: 1, messageBytes: 128 + 3 * 260, messageRate: 1, messageBurst: 1))
        let (first, second) = (FetchID(), FetchID())
        agenda.fetchWanted(first, of: ["a", "b", "c", "d"])
        agenda.fetchWanted(second, of: ["e", "f"])
        let requests = agenda.take(100)
        #expect(requests.map(\.message) == [.get(["a", "b", "c"]), .get(["d"]), .get(["e"])])
        #expect(!agenda.hasMore)
        // The caller has stopped waiting, but the worker has not answered yet.
        agenda.fetchEnded(first)
        #expect(take().isEmpty)
        agenda.getAnswered(requests[1].id!)
        #expect(agenda.hasMore)
        #expect(take() == [.get(["f"])])
        agenda.connectionLost()
        agenda.fetchWanted(second, of: ["a", "b", "c"])
        #expect(take() == [.get(["a", "b", "c"])])
    }

    @Test("if the next worker cannot serve everything, earlier subscriptions take precedence over later ones")
    mutating func servedFirst() {
        agenda.limitsLearnt(
            .init(watchedUsers: 2, joinedConversations: 1, messageBytes: 65_536, messageRate: 50, messageBurst: 200))
        for user in ["bob", "dave"] as [UserID] { agenda.users.want(user) }
        agenda.conversations.want("d")
        _ = take()
        agenda.users.want("alice")
        agenda.conversations.want("c")
        for _ in 0..<2 {
            agenda.connectionLost()
            #expect(take() == [.join("d", presence: false), .watch(["bob", "dave"])])
        }
        agenda.users.unwant("dave")
        agenda.connectionLost()
        #expect(take() == [.join("d", presence: false), .watch(["alice", "bob"])])
    }

    @Test("the longest names fit into one message within the worker's limit")
    mutating func longestNames() {
        agenda.limitsLearnt(.standard)
        for number in 0..<1000 {
            agenda.users.want(try! UserID(String(repeating: "\"", count: 124) + "\(1000 + number)"))
        }
        for request in agenda.take(100) {
            #expect(MessageCodec().json(of: request).count <= 65_536)
        }
    }

    @Test("whatever is wanted and lost, the worker ends up knowing what is wanted")
    func randomised() {
        let seed = printedSeed()
        var random = SeededGenerator(seed: seed)
        var agenda = Agenda()
        var wanted: Set<UserID> = []
        var worker: Set<UserID> = []
        for _ in 0..<5_000 {
            let user = try! UserID("u\(Int.random(in: 0..<40, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                agenda.users.want(user)
                wanted.insert(user)
            case 4..<8:
                agenda.users.unwant(user)
                wanted.remove(user)
            case 8:
                for message in agenda.take(Int.random(in: 0...2, using: &random)).map(\.message) {
                    if case .watch(let users) = message { worker.formUnion(users) }
                    if case .unwatch(let users) = message { worker.subtract(users) }
                }
            default:
                if Int.random(in: 0..<10, using: &random) == 0 {
                    agenda.connectionLost()
                    worker = []
                }
            }
            for message in agenda.hasMore ? [] : agenda.take(9).map(\.message) {
                Issue.record("\(message), seed \(seed)")
            }
        }
        for message in agenda.take(100).map(\.message) {
            if case .watch(let users) = message { worker.formUnion(users) }
            if case .unwatch(let users) = message { worker.subtract(users) }
        }
        #expect(worker == wanted, "seed \(seed)")
    }
}
