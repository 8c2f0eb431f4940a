// What is sent again after the worker refused it temporarily.

import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct AgendaRetryTests {
    private var agenda = Agenda()
    private let now = ContinuousClock.now
    private var random = SeededGenerator(seed: 1)

    private mutating func take(_ count: Int = 100) -> [ClientRequest] { agenda.take(count) }

    @discardableResult
    private mutating func refuse(_ request: ClientRequest, _ code: MessageError.Code = .unavailable) -> Agenda.Refusal {
        agenda.refused(MessageError(code: code, id: request.id, message: "later"), at: now, using: &random)
    }

    @Test("a watch, join, get, state and token that are refused temporarily are repeated when due, not before")
    mutating func retried() throws {
        agenda.users.want("bob")
        agenda.conversations.want("c1")
        agenda.gatherings.want("c1")
        agenda.conversations.want("c2")
        agenda.stateChanged(to: .idle)
        agenda.tokenRefreshed("fresh")
        agenda.fetchWanted(FetchID(), of: ["carol"])
        let requests = take()
        #expect(requests.count == 6)
        for request in requests { #expect(refuse(request) == .retried) }
        #expect(!agenda.hasMore)
        #expect(take().isEmpty)
        _ = try #require(agenda.retryTime)
        agenda.retryDue()
        #expect(take().map(\.message) == requests.map(\.message))
        #expect(agenda.retryTime == nil)
    }

    @Test("refused leave and unwatch messages are repeated, unless the subscription is wanted again")
    mutating func givingUp() {
        for user in ["bob", "carol"] as [UserID] { agenda.users.want(user) }
        agenda.conversations.want("c")
        _ = take()
        for user in ["bob", "carol"] as [UserID] { agenda.users.unwant(user) }
        agenda.conversations.unwant("c")
        for request in take() { refuse(request) }
        agenda.users.want("bob")
        #expect(take().map(\.message) == [.watch(["bob"])])
        agenda.retryDue()
        #expect(take().map(\.message) == [.leave("c"), .unwatch(["carol"])])
    }

    @Test("members refused temporarily are requested again next to the join, which stays")
    mutating func members() {
        agenda.conversations.want("c")
        _ = take()
        agenda.gatherings.want("c")
        refuse(take()[0])
        agenda.signalled(true, in: "c")
        #expect(take().map(\.message) == [.typing("c", true)], "the conversation itself is still joined")
        agenda.retryDue()
        #expect(take().map(\.message) == [.join("c", presence: true)])
        agenda.gatherings.unwant("c")
        refuse(take()[0])
        agenda.retryDue()
        #expect(take().map(\.message) == [.join("c", presence: false)])
    }

    @Test("what is not wanted any more is not sent again")
    mutating func unwanted() {
        let fetch = FetchID()
        for user in ["bob", "carol"] as [UserID] { agenda.users.want(user) }
        agenda.conversations.want("c")
        agenda.fetchWanted(fetch, of: ["dave"])
        agenda.stateChanged(to: .idle)
        for request in take() { refuse(request) }
        agenda.users.unwant("bob")
        agenda.conversations.unwant("c")
        agenda.fetchEnded(fetch)
        agenda.stateChanged(to: .active)
        #expect(take().map(\.message) == [.state(.active)])
        agenda.retryDue()
        #expect(take().map(\.message) == [.watch(["carol"])])
    }

    @Test("a new observer of what waits for its retry does not cause an earlier one")
    mutating func wantedTwice() {
        agenda.users.want("bob")
        refuse(take()[0])
        agenda.users.want("bob")
        #expect(take().isEmpty)
    }

    @Test("what is given up and wanted again is not sent before its retry is due, whenever the refusal arrives")
    mutating func wantedAnew() {
        for isGivenUpFirst in [false, true] {
            agenda.users.want("bob")
            agenda.conversations.want("c")
            let requests = take()
            func giveUp() {
                agenda.users.unwant("bob")
                agenda.conversations.unwant("c")
            }
            if isGivenUpFirst { giveUp() }
            for request in requests { refuse(request) }
            if !isGivenUpFirst { giveUp() }
            for _ in 0..<10 {
                agenda.users.want("bob")
                agenda.conversations.want("c")
                #expect(take().isEmpty && !agenda.hasMore)
                giveUp()
            }
            agenda.retryDue()
            #expect(take().isEmpty, "nobody wants it now")
            agenda.users.want("bob")
            #expect(take().map(\.message) == [.watch(["bob"])], "its time has come")
            agenda.connectionLost()
            agenda.users.unwant("bob")
        }
    }

    @Test("an answered get ends a series of refusals, like any success")
    mutating func getServed() throws {
        for _ in 0..<12 {
            agenda.fetchWanted(FetchID(), of: ["bob"])
            for request in take() { refuse(request) }
            agenda.retryDue()
        }
        for request in take() { agenda.getAnswered(request.id!) }
        agenda.users.want("carol")
        refuse(take()[0])
        #expect(try #require(agenda.retryTime) <= now + .milliseconds(250))
    }

    @Test("a success does not shorten the pauses of other refused requests")
    mutating func takenMeanwhile() throws {
        var longest = Duration.zero
        agenda.users.want("bob")
        var bob = take()
        for round in 0..<20 {
            refuse(bob[0], .slowDown)
            longest = max(longest, try #require(agenda.retryTime) - now)
            let (user, conversation) = (try UserID("user\(round)"), try ConversationID("c\(round)"))
            agenda.users.want(user)
            agenda.conversations.want(conversation)
            var others = take()
            agenda.retryDue()
            bob = take()
            agenda.users.unwant(user)
            agenda.conversations.unwant(conversation)
            others += take()
            #expect(
                (bob + others).map(\.message) == [
                    .watch(["bob"]), .join(conversation, presence: false), .watch([user]), .leave(conversation),
                    .unwatch([user]),
                ])
            for request in others { _ = agenda.acknowledged(request.id!) }
        }
        #expect(longest > .seconds(5))
        _ = agenda.acknowledged(bob[0].id!)
        agenda.users.want("carol")
        refuse(take()[0], .slowDown)
        #expect(try #require(agenda.retryTime) <= now + .milliseconds(250))
    }

    @Test("a reconnect sends everything again, and nothing twice")
    mutating func reconnect() {
        agenda.users.want("bob")
        agenda.conversations.want("c")
        let requests = take()
        for request in requests { refuse(request) }
        agenda.connectionLost()
        #expect(agenda.retryTime == nil)
        #expect(take().map(\.message) == requests.map(\.message))
        agenda.retryDue()
        #expect(take().isEmpty)
        #expect(refuse(requests[0]) == .final(nil), "what the old connection answers is nobody's")
    }

    @Test("an answer that arrives after a later message about the same subject has no effect")
    mutating func lateAnswers() {
        agenda.users.want("bob")
        agenda.conversations.want("c")
        let first = take()
        agenda.users.unwant("bob")
        agenda.conversations.unwant("c")
        _ = take()
        agenda.users.want("bob")
        agenda.conversations.want("c")
        _ = take()
        #expect(refuse(first[0]) == .retried)
        #expect(refuse(first[1]) == .retried)
        agenda.retryDue()
        #expect(take().isEmpty)
        agenda.users.unwant("bob")
        agenda.conversations.unwant("c")
        #expect(take().map(\.message) == [.leave("c"), .unwatch(["bob"])], "the worker serves both")
    }

    @Test(
        "a join refused before or after another one of its conversation succeeded leaves the conversation joined")
    mutating func joinedBesideRefusal() {
        for isLaterTaken in [true, false] {
            agenda.conversations.want("c")
            let first = take()[0]
            agenda.gatherings.want("c")
            let second = take()[0]
            refuse(isLaterTaken ? first : second)
            agenda.gatherings.unwant("c")
            agenda.conversations.unwant("c")
            #expect(take().map(\.message) == [.leave("c")], "the worker serves it")
            agenda.connectionLost()
        }
    }

    @Test("a conversation whose joins are all refused is joined later")
    mutating func eachJoinRefused() {
        agenda.conversations.want("c")
        let first = take()[0]
        agenda.gatherings.want("c")
        let second = take()[0]
        agenda.gatherings.unwant("c")
        for request in [second, take()[0], first] { refuse(request) }
        #expect(take().isEmpty && !agenda.hasMore)
        agenda.retryDue()
        #expect(take().first?.message == .join("c", presence: false))
    }

    @Test("a final refusal of a join that was repeated meanwhile has no effect")
    mutating func lateRefusal() {
        agenda.conversations.want("c")
        let first = take()[0]
        agenda.conversations.unwant("c")
        _ = take()
        agenda.conversations.want("c")
        _ = take()
        #expect(refuse(first, .notJoined) == .final(nil))
        #expect(agenda.conversations.wasTold("c"))
    }

    @Test("a final refusal stays until a new connection or a new request")
    mutating func final() {
        agenda.users.want("bob")
        agenda.conversations.want("c")
        let requests = take()
        #expect(refuse(requests[0], .notAMember) == .final(.join("c")))
        #expect(refuse(requests[1], .badRequest) == .final(.watch(["bob"])))
        #expect(agenda.retryTime == nil)
        agenda.retryDue()
        #expect(take().isEmpty)
        agenda.conversations.want("c")
        #expect(take().map(\.message) == [.join("c", presence: false)])
    }

    @Test(
        "a conversation of a user who is not a member is joined again after pauses from 2 s to 6 s, later to 60 s",
        arguments: [false, true])
    mutating func rejoined(drawsLongest: Bool) throws {
        agenda.conversationWanted("c")
        agenda.gatherings.want("c")
        var extreme = Jitter { drawsLongest ? .max : 1 }
        for limit in [6, 10, 18, 34, 60, 60, 60] {
            let request = try #require(take().first)
            #expect(request.message == .join("c", presence: true))
            #expect(
                agenda.refused(
                    MessageError(code: .notAMember, id: request.id, message: "no member"), at: now, using: &extreme)
                    == .final(.join("c")))
            let due = try #require(agenda.rejoinTime)
            #expect(due == now + .seconds(drawsLongest ? limit : 2))
            agenda.rejoinDue(at: due - .milliseconds(1))
            #expect(take().isEmpty)
            agenda.rejoinDue(at: due)
            #expect(agenda.rejoinTime == nil)
        }
        let request = try #require(take().first)
        let id = try #require(request.id)
        #expect(agenda.acknowledged(id) == .join("c"))
        agenda.removed(from: "c", at: now, using: &random)
        let due = try #require(agenda.rejoinTime)
        #expect(due <= now + .seconds(6), "a success ends the long pauses")
        agenda.removed(from: "c", at: now + .seconds(1), using: &random)
        #expect(agenda.rejoinTime == due)
    }

    @Test("a refused conversation that is given up, wanted anew or asked for on a new connection waits no longer")
    mutating func rejoinForgotten() throws {
        agenda.conversationWanted("c")
        let first = try #require(take().first)
        refuse(first, .notAMember)
        agenda.conversationWanted("c")
        #expect(agenda.rejoinTime == nil)
        let second = try #require(take().first)
        refuse(second, .notAMember)
        agenda.connectionLost()
        #expect(agenda.rejoinTime == nil)
        let third = try #require(take().first)
        refuse(third, .notAMember)
        agenda.conversationUnwanted("c")
        #expect(agenda.rejoinTime == nil)
        agenda.removed(from: "c", at: now, using: &random)
        #expect(agenda.rejoinTime == nil)
        #expect(take().isEmpty)
    }

    @Test("users refused because of the limit are requested once there is room, as many as fit")
    mutating func limit() {
        for user in ["a", "b", "c", "d"] as [UserID] { agenda.users.want(user) }
        let request = take()[0]
        agenda.limitsLearnt(
            .init(watchedUsers: 3, joinedConversations: 1, messageBytes: 65_536, messageRate: 1, messageBurst: 1))
        #expect(refuse(request, .limit) == .final(.watch(["a", "b", "c", "d"])), "it is told")
        agenda.retryDue()
        #expect(take().map(\.message) == [.watch(["a", "b", "c"])])
        #expect(agenda.isBeyondLimits)
        agenda.users.unwant("a")
        #expect(take().map(\.message) == [.unwatch(["a"]), .watch(["d"])])
    }

    @Test("a stop that is awaited is reported as refused, not sent again")
    mutating func stop() {
        let stop = StopID()
        agenda.conversations.want("c")
        _ = take()
        agenda.signalled(false, in: "c", awaited: stop)
        #expect(refuse(take()[0]) == .final(.stop(stop)))
        #expect(agenda.retryTime == nil)
    }

    @Test("what waits is sent in one message, and no faster than the budget")
    mutating func batched() {
        agenda.limitsLearnt(
            .init(watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 1, messageBurst: 1))
        var requests: [ClientRequest] = []
        for number in 0..<101 {
            agenda.users.want(try! UserID("u\(number)"))
            requests += take()
        }
        for number in 0..<5 { agenda.conversations.want(try! ConversationID("c\(number)")) }
        requests += take()
        for request in requests.shuffled() { refuse(request) }
        agenda.retryDue()
        #expect(take(3).count == 3)
        #expect(agenda.hasMore)
        let rest = take().map(\.message)
        #expect(rest.count == 3)
        guard case .watch(let users)? = rest.last else {
            Issue.record("\(rest)")
            return
        }
        #expect(users.count == 101)
    }

    @Test("a subscription whose end was refused, and that is not wanted after a new refusal, is ended later")
    mutating func keptAndRefused() {
        agenda.users.want("bob")
        _ = take()
        agenda.users.unwant("bob")
        refuse(take()[0])
        agenda.users.want("bob")
        refuse(take()[0])
        agenda.users.unwant("bob")
        #expect(take().isEmpty)
        agenda.retryDue()
        agenda.users.want("bob")
        refuse(take()[0])
        agenda.users.unwant("bob")
        #expect(take().isEmpty)
        agenda.retryDue()
        #expect(take().map(\.message) == [.unwatch(["bob"])], "the worker still serves what it was asked for first")
        agenda.retryDue()
        #expect(take().isEmpty && !agenda.hasMore)
    }

    @Test("whatever is wanted, refused, answered late or lost, the worker ends up serving what is wanted")
    func randomised() {
        let seed = printedSeed()
        var random = SeededGenerator(seed: seed)
        var agenda = Agenda()
        var wanted: Set<UserID> = []
        var joined: [ConversationID: Bool] = [:]
        var watched: Set<UserID> = []
        var answers: [(ClientRequest, taken: Bool)] = []
        var wishes: [ConversationID: Bool] = [:]
        func serve(_ requests: [ClientRequest], refusing: Bool) {
            for request in requests {
                let taken = !refusing || !Bool.random(using: &random)
                answers.append((request, taken))
                guard taken else { continue }
                switch request.message {
                case .watch(let users): watched.formUnion(users)
                case .unwatch(let users): watched.subtract(users)
                case .join(let conversation, let presence): joined[conversation] = presence
                case .leave(let conversation): joined[conversation] = nil
                default: break
                }
            }
        }
        func answer(_ count: Int) {
            for _ in 0..<min(count, answers.count) {
                let (request, taken) = answers.remove(at: Int.random(in: 0..<answers.count, using: &random))
                if taken {
                    _ = agenda.acknowledged(request.id!)
                } else {
                    _ = agenda.refused(
                        MessageError(code: .unavailable, id: request.id, message: ""), at: now, using: &random)
                }
            }
        }
        for _ in 0..<3_000 {
            let user = try! UserID("u\(Int.random(in: 0..<10, using: &random))")
            let conversation = try! ConversationID("c\(Int.random(in: 0..<4, using: &random))")
            switch Int.random(in: 0..<14, using: &random) {
            case 0..<2:
                agenda.users.want(user)
                wanted.insert(user)
            case 2..<4:
                agenda.users.unwant(user)
                wanted.remove(user)
            case 4:
                agenda.conversations.want(conversation)
                wishes[conversation] = wishes[conversation] ?? false
            case 5:
                agenda.conversations.want(conversation)
                agenda.gatherings.want(conversation)
                wishes[conversation] = true
            case 6:
                agenda.gatherings.unwant(conversation)
                if wishes[conversation] != nil { wishes[conversation] = false }
            case 7:
                agenda.gatherings.unwant(conversation)
                agenda.conversations.unwant(conversation)
                wishes[conversation] = nil
            case 8..<11: serve(agenda.take(Int.random(in: 0...3, using: &random)), refusing: true)
            case 11: answer(Int.random(in: 0...3, using: &random))
            case 12: agenda.retryDue()
            default:
                guard Int.random(in: 0..<10, using: &random) == 0 else { break }
                agenda.connectionLost()
                (watched, joined, answers) = ([], [:], [])
            }
        }
        for _ in 0..<3 {
            serve(agenda.take(100), refusing: false)
            answer(.max)
            agenda.retryDue()
        }
        #expect(agenda.take(100).isEmpty, "seed \(seed)")
        #expect(watched == wanted, "seed \(seed)")
        #expect(joined == wishes, "seed \(seed)")
    }
}
