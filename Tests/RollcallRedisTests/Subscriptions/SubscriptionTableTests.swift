import NIOCore
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct SubscriptionTableTests {
    private func answer(_ table: inout SubscriptionTable<String>, _ channel: String, _ subscribed: Bool)
        -> SubscriptionTable<String>.Answer
    {
        table.answered(ByteBuffer(string: channel), subscribed: subscribed)
    }

    @Test func `a channel is confirmed by its answer`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        table.subscribe("a")
        #expect(table.nextBatch() == .init(subscribe: ["a"]))
        #expect(table.nextBatch() == nil)
        #expect(!table.isConfirmed("a"))
        #expect(answer(&table, "a", true) == .confirmed("a"))
        #expect(table.isConfirmed("a"))
        table.subscribe("a")
        #expect(table.nextBatch() == nil)
    }

    @Test func `leaving and wanting again in flight ends with the last word`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        _ = table.nextBatch()
        table.unsubscribe("a")
        #expect(table.nextBatch() == .init(unsubscribe: ["a"]))
        table.subscribe("a")
        #expect(table.nextBatch() == .init(subscribe: ["a"]))
        #expect(answer(&table, "a", true) == .noted)
        #expect(answer(&table, "a", false) == .noted)
        #expect(!table.isConfirmed("a"))
        #expect(answer(&table, "a", true) == .confirmed("a"))
    }

    @Test func `leaving and wanting again before anything is sent is nothing`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        table.unsubscribe("a")
        #expect(table.nextBatch() == nil)
        #expect(table.count == 0)

        table.subscribe("a")
        _ = table.nextBatch()
        _ = answer(&table, "a", true)
        table.unsubscribe("a")
        table.subscribe("a")
        #expect(table.nextBatch() == nil)
        #expect(table.isConfirmed("a"))
    }

    @Test func `a channel that is left is forgotten`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        _ = table.nextBatch()
        _ = answer(&table, "a", true)
        table.unsubscribe("a")
        #expect(table.wanted(ByteBuffer(string: "a")) == nil)
        _ = table.nextBatch()
        #expect(answer(&table, "a", false) == .noted)
        #expect(table.count == 0)
        table.unsubscribe("never wanted")
        #expect(table.count == 0)
    }

    @Test func `answers to no question are noticed`() {
        var table = SubscriptionTable<String>()
        #expect(answer(&table, "a", true) == .unexpected)
        table.subscribe("a")
        #expect(answer(&table, "a", true) == .unexpected)
        _ = table.nextBatch()
        #expect(answer(&table, "a", false) == .unexpected)
    }

    @Test func `names are compared as bytes`() {
        var table = SubscriptionTable<String>()
        table.subscribe("caf\u{E9}")
        table.subscribe("cafe\u{301}")
        #expect(table.nextBatch()?.subscribe.count == 2)
        #expect(answer(&table, "caf\u{E9}", true) == .confirmed("caf\u{E9}"))
        #expect(table.isConfirmed("caf\u{E9}"))
        #expect(!table.isConfirmed("cafe\u{301}"))
    }

    @Test func `many channels go in batches, and no further than Redis answers`() {
        var table = SubscriptionTable<String>()
        for number in 0..<10_000 { table.subscribe("c\(number)") }
        var sent: [String] = []
        while let batch = table.nextBatch() {
            #expect(batch.subscribe.count <= SubscriptionBatch.size)
            sent += batch.subscribe
        }
        #expect(sent.count == SubscriptionBatch.window)
        for channel in sent.prefix(10) { _ = answer(&table, channel, true) }
        #expect(table.nextBatch()?.subscribe.count == 10)
    }

    @Test func `what a loss undoes is asked for again, what was left is not`() {
        var table = SubscriptionTable<String>()
        for channel in ["a", "b", "c"] { table.subscribe(channel) }
        _ = table.nextBatch()
        _ = answer(&table, "a", true)
        table.unsubscribe("b")
        table.connectionLost()
        #expect(!table.isConfirmed("a"))
        #expect(Set(table.nextBatch()?.subscribe ?? []) == ["a", "c"])
        #expect(table.unanswered == 2)
    }

    @Test func `whatever is wanted, left and lost in whatever order, Redis ends with what is wanted`() {
        randomised("subscriptions") { random in
            for _ in 0..<200 {
                var model = Model()
                for _ in 0..<Int.random(in: 1...200, using: &random) { model.step(using: &random) }
                model.settle()
                #expect(model.subscribed == model.wanted)
                #expect(model.wanted.allSatisfy { model.table.isConfirmed($0) })
                #expect(model.table.count == model.wanted.count)
                #expect(model.table.unanswered == 0)
                #expect(model.confirmedWhileNot == 0)
            }
        }
    }
}

/// The table, a Redis that answers with a delay, and the expected result.
private struct Model {
    var table = SubscriptionTable<String>()
    var wanted: Set<String> = []
    var subscribed: Set<String> = []
    var confirmedWhileNot = 0
    private var unanswered: [(channel: String, subscribed: Bool)] = []

    mutating func step(using random: inout SeededGenerator) {
        let channel = "c\(Int.random(in: 0..<8, using: &random))"
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6:
            wanted.insert(channel)
            table.subscribe(channel)
        case 6..<12:
            wanted.remove(channel)
            table.unsubscribe(channel)
        case 12..<15: send()
        case 15..<19: answer()
        default:
            table.connectionLost()
            unanswered = []
            subscribed = []
        }
    }

    mutating func settle() {
        repeat {
            send()
            while !unanswered.isEmpty { answer() }
        } while table.unanswered > 0
    }

    private mutating func send() {
        while let batch = table.nextBatch() {
            unanswered += batch.unsubscribe.map { ($0, false) } + batch.subscribe.map { ($0, true) }
        }
    }

    /// Redis executes requests in order, so a confirmation reflects all earlier requests.
    private mutating func answer() {
        guard !unanswered.isEmpty else { return }
        let (channel, isSubscription) = unanswered.removeFirst()
        if isSubscription { subscribed.insert(channel) } else { subscribed.remove(channel) }
        switch table.answered(ByteBuffer(string: channel), subscribed: isSubscription) {
        case .confirmed(let name): if !wanted.contains(name) || !subscribed.contains(name) { confirmedWhileNot += 1 }
        case .noted: break
        case .unexpected: Issue.record("an answer was not expected: \(channel)")
        }
    }
}

extension SubscriptionTable<String> {
    /// Subscribes to a channel, with its name as the subject.
    @discardableResult
    fileprivate mutating func subscribe(_ channel: String) -> Bool { subscribe(channel, as: channel) }
}

extension SubscriptionTable<String>.Answer: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.confirmed(let left), .confirmed(let right)): left == right
        case (.noted, .noted), (.unexpected, .unexpected): true
        default: false
        }
    }
}
