// The messages to the worker, their order, and what is sent again after a refusal.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct OutboxTests {
    private var outbox: Outbox
    private var now = ContinuousClock.now
    private var random = jitter(1)

    init() {
        outbox = Outbox(at: now)
        learn(watchedUsers: 2000, joinedConversations: 500)
    }

    private mutating func learn(watchedUsers: Int, joinedConversations: Int, bytes: Int = 65_536, burst: Int = 4000) {
        outbox.limitsLearnt(
            .init(
                watchedUsers: watchedUsers, joinedConversations: joinedConversations, messageBytes: bytes,
                messageRate: 1_000_000, messageBurst: burst), entriesEvery: .milliseconds(500), at: now)
    }

    private mutating func requests() -> [ClientRequest] {
        now += .milliseconds(10)
        return outbox.take(at: now)
    }

    private mutating func take() -> [ClientMessage] { requests().map(\.message) }

    /// Returns whether the app should know; `nil` if the message no longer matters.
    @discardableResult
    private mutating func refuse(_ request: ClientRequest, _ code: MessageError.Code = .unavailable) -> Bool? {
        outbox.refused(MessageError(code: code, id: request.id, message: "later"), at: now, using: &random)?.isFinal
    }

    /// Lets the pause before the next attempt pass.
    private mutating func retry() throws {
        now = try #require(outbox.deadline)
        outbox.deadlinePassed(at: now)
    }

    @Test("what is wanted is asked for once, in one message for many users, and what one tick undoes is never sent")
    mutating func asked() {
        for user in ["carol", "bob", "bob"] as [UserID] { outbox.users.want(user) }
        outbox.conversations.want("c42")
        #expect(take() == [.join("c42", presence: false), .watch(["bob", "carol"])])
        outbox.users.unwant("bob")
        outbox.users.want("bob")
        outbox.users.want("dave")
        outbox.users.unwant("dave")
        #expect(take().isEmpty)
        outbox.users.unwant("bob")
        #expect(take() == [.unwatch(["bob"])])
    }

    @Test("a new connection sends everything wanted, and no old typing")
    mutating func reconnect() {
        for user in ["bob", "carol"] as [UserID] { outbox.users.want(user) }
        outbox.conversations.want("c42")
        _ = take()
        outbox.users.unwant("carol")
        outbox.signalled(true, in: "c42")
        outbox.connectionLost()
        #expect(take() == [.join("c42", presence: false), .watch(["bob"])])
    }

    @Test("typing follows its join, is later sent before everything else, and only as the latest signal")
    mutating func typing() {
        outbox.signalled(true, in: "c42")
        outbox.conversations.want("c42")
        outbox.users.want("bob")
        #expect(take() == [.join("c42", presence: false), .typing("c42", true), .watch(["bob"])])
        outbox.users.want("carol")
        outbox.state = .background
        outbox.token = "fresh"
        outbox.signalled(true, in: "c42")
        outbox.signalled(false, in: "c42")
        #expect(take() == [.typing("c42", false), .token("fresh"), .state(.background), .watch(["carol"])])
        outbox.removed(from: "c42", at: now, using: &random)
        outbox.signalled(true, in: "c42")
        #expect(take().isEmpty, "the worker does not admit the user")
    }

    @Test("a stop that is awaited is sent with an id, whatever comes after it, and not again if it is refused")
    mutating func awaitedStop() {
        outbox.conversations.want("c42")
        _ = take()
        let stop = Stop(deadline: now) { _ in }
        outbox.signalled(false, in: "c42", stop: stop)
        outbox.signalled(true, in: "c42")
        let sent = requests()
        #expect(sent.map(\.message) == [.typing("c42", false), .typing("c42", true)])
        #expect(refuse(sent[0]) == true && outbox.deadline == nil)
        outbox.signalled(false, in: "c42", stop: stop)
        let id = requests()[0].id!
        guard case .stop(let acknowledged) = outbox.acknowledged(id) else { return #expect(Bool(false), "no stop") }
        #expect(acknowledged === stop)
        #expect(outbox.acknowledged(id) == nil, "each is answered once")
    }

    @Test("messages are limited to the size that the worker reads, and subscriptions to its limits")
    mutating func limits() {
        learn(watchedUsers: 5, joinedConversations: 1, bytes: 128 + 2 * 260)
        for user in ["a", "b", "c", "d", "e", "f"] as [UserID] { outbox.users.want(user) }
        for conversation in ["c1", "c2"] as [ConversationID] { outbox.conversations.want(conversation) }
        outbox.signalled(true, in: "c2")
        #expect(take() == [.join("c1", presence: false), .watch(["a", "b"]), .watch(["c", "d"]), .watch(["e"])])
        #expect(outbox.isBeyondLimits && !outbox.isCut, "what cannot be sent is not waited for")
        outbox.users.unwant("a")
        outbox.conversations.unwant("c1")
        #expect(take() == [.leave("c1"), .unwatch(["a"]), .join("c2", presence: false), .watch(["f"])])
        #expect(!outbox.isBeyondLimits)
    }

    @Test("the longest names fit into one message within the worker's limit")
    mutating func longestNames() {
        for number in 0..<1000 {
            outbox.users.want(try! UserID(String(repeating: "\"", count: 124) + "\(1000 + number)"))
        }
        for request in requests() { #expect(MessageCodec().json(of: request).count <= 65_536) }
    }

    @Test("a budget of a few messages is respected, and the rest follows")
    mutating func budget() {
        learn(watchedUsers: 1, joinedConversations: 500, burst: 4)
        for number in 0..<7 { outbox.conversations.want(try! ConversationID("c\(number)")) }
        #expect(outbox.take(at: now).count == 2, "three quarters, but for one that a ping may need")
        #expect(outbox.isCut && outbox.deadline != nil)
        #expect(take().count == 2)
        #expect(take().count == 2)
        #expect(take().count == 1)
        #expect(!outbox.isCut)
    }

    @Test("users are read in one message at a time; what nobody awaits any more is not asked for")
    mutating func gets() {
        learn(watchedUsers: 3, joinedConversations: 1)
        outbox.gets = ["a", "b", "c", "d", "e"]
        let first = requests()
        #expect(first.map(\.message) == [.get(["a", "b", "c"])])
        #expect(take().isEmpty)
        #expect(outbox.received(["a", "b"], answering: first[0].id) && !outbox.received(["c"], answering: nil))
        outbox.getEnded(["c", "d"])
        let second = requests()
        #expect(second.map(\.message) == [.get(["e"])])
        #expect(refuse(second[0], .unavailable) == false)
        #expect(take().isEmpty)
    }

    @Test("what is refused for now is repeated when due, not before, and the app does not know")
    mutating func refusedForNow() throws {
        outbox.users.want("bob")
        outbox.conversations.want("c1", [.members])
        outbox.conversations.want("c2")
        (outbox.state, outbox.token, outbox.gets) = (.idle, "fresh", ["carol"])
        let sent = requests()
        #expect(sent.count == 6)
        for request in sent { #expect(refuse(request) == false) }
        #expect(take().isEmpty)
        try retry()
        #expect(take() == sent.map(\.message))
        #expect(outbox.deadline == nil)
    }

    @Test("of two tokens the older one is not sent again")
    mutating func tokens() throws {
        outbox.token = "older"
        let older = requests()[0]
        outbox.users.want("bob")
        refuse(requests()[0])
        outbox.token = "newer"
        #expect(take() == [.token("newer")])
        refuse(older)
        try retry()
        #expect(take() == [.watch(["bob"])])
    }

    @Test("what is given up and wanted again is not asked for before its retry is due, and then only if it is wanted")
    mutating func wantedAnew() throws {
        outbox.users.want("bob")
        outbox.users.want("carol")
        refuse(requests()[0])
        for round in 0..<10 {
            outbox.users.unwant("bob")
            #expect(take() == (round == 0 ? [.unwatch(["bob"])] : []))
            outbox.users.want("bob")
            #expect(take().isEmpty)
        }
        outbox.users.unwant("carol")
        _ = take()
        try retry()
        #expect(take() == [.watch(["bob"])])
    }

    @Test("a refusal has no effect on what was asked for again since")
    mutating func late() {
        outbox.users.want("bob")
        outbox.conversations.want("c")
        let first = requests()
        outbox.users.unwant("bob")
        outbox.conversations.want("c", [.members])
        _ = take()
        outbox.users.want("bob")
        _ = take()
        for request in first { #expect(refuse(request, .notAMember) == nil) }
        #expect(outbox.deadline == nil && outbox.conversations.isServed("c"))
    }

    @Test("pauses grow while refusals go on, whatever is accepted meanwhile, and are short again after a while without")
    mutating func pauses() throws {
        random = Jitter { .max }
        outbox.users.want("bob")
        var pauses: [Duration] = []
        for round in 0..<8 {
            refuse(requests().last!, .unavailable)
            pauses.append(try #require(outbox.deadline) - now)
            outbox.users.want(try UserID("user\(round)"))
            let other = requests()[0]
            _ = outbox.acknowledged(other.id!)
            try retry()
        }
        #expect(pauses == [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000].map { .milliseconds($0) })
        _ = take()
        now += .seconds(60)
        outbox.users.want("dave")
        refuse(requests()[0])
        #expect(try #require(outbox.deadline) == now + .milliseconds(250))
    }

    @Test(
        "a conversation of a user who is not a member is joined again after pauses from 6 s to 60 s, or with a new view"
    )
    mutating func notAMember() throws {
        random = Jitter { .max }
        outbox.conversations.want("c", [.members])
        for limit in [6, 10, 18, 34, 60, 60] {
            let request = try #require(requests().first)
            #expect(request.message == .join("c", presence: true))
            #expect(refuse(request, .notAMember) == true)
            #expect(try #require(outbox.deadline) == now + .seconds(limit))
            try retry()
        }
        _ = take()
        outbox.removed(from: "c", at: now, using: &random)
        #expect(try #require(outbox.deadline) == now + .seconds(6), "a removal is a first refusal")
        outbox.conversations.want("c", [.members])
        #expect(take() == [.join("c", presence: true)])
    }

    @Test("users refused because of the limit are asked for once there is room, as many as fit, and the app knows")
    mutating func beyondLimit() throws {
        for user in ["a", "b", "c", "d"] as [UserID] { outbox.users.want(user) }
        let request = requests()[0]
        learn(watchedUsers: 3, joinedConversations: 1)
        #expect(refuse(request, .limit) == true)
        try retry()
        #expect(take() == [.watch(["a", "b", "c"])])
        outbox.users.unwant("a")
        #expect(take() == [.unwatch(["a"]), .watch(["d"])])
    }

    @Test("where the device is goes first, and is said right behind its join")
    mutating func entersFirst() {
        for conversation in ["a", "b", "z"] as [ConversationID] { outbox.conversations.want(conversation) }
        outbox.enter("z", .some(nil))
        #expect(
            take() == [
                .join("z", presence: false), .enter("z"), .join("a", presence: false), .join("b", presence: false),
            ])
    }

    /// Regression: sixty changes a second of what a device shows kept a list of members from being asked for at all.
    @Test("nothing cheap takes what a dearer message before it is saving for")
    mutating func saving() {
        outbox.limitsLearnt(
            .init(
                watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 50, messageBurst: 200),
            entriesEvery: .zero, at: now)
        outbox.conversations.want("doc")
        outbox.enter("doc", .some(nil))
        for number in 0..<200 { outbox.users.want(try! UserID("u\(number)")) }
        _ = take()
        for _ in 0..<2000 where !outbox.isCut {
            outbox.enter("doc", HereData(stored: ByteString(#"{"x":\#(Int.random(in: 0..<1_000_000))}"#)))
            _ = take()
        }
        outbox.conversations.want("list", [.members])
        var joined = false
        for step in 0..<600 where !joined {
            outbox.enter("doc", HereData(stored: ByteString(#"{"x":\#(step)}"#)))
            joined = take().contains(.join("list", presence: true))
        }
        #expect(joined)
    }

    @Test("what a device shows is sent four times at once, then at the worker's pace, and the last one counts")
    mutating func pace() throws {
        outbox.conversations.want("doc")
        func data(_ step: Int) -> HereData? { HereData(stored: ByteString(#"{"x":\#(step)}"#)) }
        var sent: [ClientMessage] = []
        for step in 0..<100 {
            outbox.enter("doc", data(step))
            sent += take().filter { if case .enter = $0 { true } else { false } }
        }
        #expect(sent.count == 5, "four at once, and one in the first second")
        now = try #require(outbox.deadline)
        #expect(take() == [.enter("doc", data: data(99))])
    }

    @Test("what the limits forbid is not sent, is told once, and is sent once there is room or its data has changed")
    mutating func entryLimits() {
        for number in 0..<11 {
            let conversation = try! ConversationID("doc\(number)")
            outbox.conversations.want(conversation)
            outbox.enter(conversation, .some(nil))
        }
        func enters(_ messages: [ClientMessage]) -> Int {
            messages.count { if case .enter = $0 { true } else { false } }
        }
        #expect(enters(take()) == 10 && outbox.isBeyondLimits)
        outbox.enter("doc0", nil)
        #expect(enters(take()) == 1 && !outbox.isBeyondLimits)
        let long = HereData(stored: ByteString(#"{"x":"\#(String(repeating: "x", count: 600))"}"#))
        outbox.enter("doc1", long)
        #expect(take().isEmpty && outbox.problems.map(\.code) == [.limit])
        #expect(take().isEmpty && outbox.problems.count == 1)
        outbox.enter("doc1", HereData(stored: #"{"x":1}"#))
        #expect(enters(take()) == 1)
    }

    @Test("whatever is wanted, refused, answered late or lost, the worker ends up serving what is wanted")
    mutating func randomised() {
        let seed = printedSeed()
        var random = SeededGenerator(seed: seed)
        var wanted: Set<UserID> = []
        var wishes: [ConversationID: Bool] = [:]
        var watched: Set<UserID> = []
        var joined: [ConversationID: Bool] = [:]
        var answers: [(ClientRequest, taken: Bool)] = []
        func serve(_ requests: [ClientRequest], refusing: Bool) {
            for request in requests {
                let taken = request.id == nil || !refusing || !Bool.random(using: &random)
                if request.id != nil { answers.append((request, taken)) }
                guard taken else { continue }
                switch request.message {
                case .watch(let users): watched.formUnion(users)
                case .unwatch(let users): watched.subtract(users)
                case .join(let conversation, let presence, _): joined[conversation] = presence
                case .leave(let conversation): joined[conversation] = nil
                default: break
                }
            }
        }
        func answer(_ count: Int) {
            for _ in 0..<min(count, answers.count) {
                let (request, taken) = answers.remove(at: Int.random(in: 0..<answers.count, using: &random))
                if taken {
                    _ = outbox.acknowledged(request.id!)
                } else {
                    refuse(request, Bool.random(using: &random) ? .unavailable : .badRequest)
                }
            }
        }
        learn(watchedUsers: 2000, joinedConversations: 500, burst: 5)
        for step in 1...10_000 {
            let user = try! UserID("u\(Int.random(in: 0..<10, using: &random))")
            let conversation = try! ConversationID("c\(Int.random(in: 0..<4, using: &random))")
            switch Int.random(in: 0..<14, using: &random) {
            case 0..<2:
                outbox.users.want(user)
                wanted.insert(user)
            case 2..<4:
                outbox.users.unwant(user)
                wanted.remove(user)
            case 4..<7:
                let way = Bool.random(using: &random)
                outbox.conversations.want(conversation, way ? [.members] : [])
                wishes[conversation] = way
            case 7:
                outbox.conversations.unwant(conversation)
                wishes[conversation] = nil
            case 8..<11: serve(requests(), refusing: true)
            case 11: answer(Int.random(in: 0...3, using: &random))
            case 12:
                now += .seconds(70)
                outbox.deadlinePassed(at: now)
            default:
                guard Int.random(in: 0..<10, using: &random) == 0 else { break }
                outbox.connectionLost()
                (watched, joined, answers) = ([], [:], [])
            }
            guard step.isMultiple(of: 500) else { continue }
            for _ in 0..<30 {
                serve(requests(), refusing: false)
                answer(.max)
                now += .seconds(70)
                outbox.deadlinePassed(at: now)
            }
            #expect(requests().isEmpty, "seed \(seed), step \(step)")
            #expect(watched == wanted && joined == wishes, "seed \(seed), step \(step)")
        }
    }
}
