// Channels of a cluster's slots: a node may refuse one, or end it at any time.

import NIOCore
import RollcallModel
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct ShardedSubscriptionTests {
    private func table(of channels: String...) -> SubscriptionTable<String> {
        var table = SubscriptionTable<String>()
        for channel in channels { table.subscribe(channel) }
        _ = table.nextBatch()
        for channel in channels { _ = table.answered(ByteBuffer(string: channel), subscribed: true) }
        return table
    }

    @Test func `what was refused is asked for again, and not before it is time`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        _ = table.nextBatch()
        #expect(table.refused(BytesKey("a")) == "a")
        #expect(table.unanswered == 0 && table.hasAstray)
        #expect(table.nextBatch() == nil)
        table.askAgain()
        #expect(!table.hasAstray)
        #expect(table.nextBatch() == .init(subscribe: ["a"]))
    }

    @Test func `one of those that were refused can ask for all`() {
        var table = SubscriptionTable<String>()
        for channel in ["a", "b", "c"] { table.subscribe(channel) }
        _ = table.nextBatch()
        for channel in ["a", "b", "c"] { _ = table.refused(BytesKey(channel)) }
        table.askAgain(atMost: 1)
        #expect(table.nextBatch() == .init(subscribe: ["a"]) && table.hasAstray)
        table.askAgain()
        #expect(table.nextBatch() == .init(subscribe: ["b", "c"]) && !table.hasAstray)
    }

    @Test func `what Redis ended is no more confirmed, and asked for again`() {
        var table = table(of: "a", "b")
        #expect(table.ended(ByteBuffer(string: "a")) == "a")
        #expect(!table.isConfirmed("a") && table.isConfirmed("b"))
        table.askAgain()
        #expect(table.nextBatch() == .init(subscribe: ["a"]))
    }

    @Test func `what is wanted no more is not asked for again`() {
        var table = table(of: "a")
        _ = table.ended(ByteBuffer(string: "a"))
        table.unsubscribe("a")
        #expect(table.count == 0)
        table.askAgain()
        #expect(table.nextBatch() == nil)
    }

    @Test func `a refusal to leave is as good as having left`() {
        var table = table(of: "a")
        table.unsubscribe("a")
        _ = table.nextBatch()
        #expect(table.refused(BytesKey("a")) == nil)
        #expect(table.count == 0 && table.unanswered == 0)
    }

    @Test func `an end that crosses a question is not the answer to it`() {
        var table = table(of: "a")
        table.unsubscribe("a")
        _ = table.nextBatch()
        table.subscribe("a")
        _ = table.nextBatch()
        #expect(table.ended(ByteBuffer(string: "a")) == nil)
        #expect(!table.hasAstray)
        _ = table.answered(ByteBuffer(string: "a"), subscribed: false)
        #expect(table.answered(ByteBuffer(string: "a"), subscribed: true) == .confirmed("a"))
    }

    @Test func `what lies elsewhere is given away, and its end is no news then`() {
        var table = table(of: "a", "b")
        table.subscribe("c")
        let given = table.give { $0 != "b" }
        #expect(Set(given.map(\.channel)) == ["a", "c"])
        #expect(table.nextBatch() == nil)
        #expect(table.subjects == ["b"] && table.count == 1)
        #expect(table.ended(ByteBuffer(string: "a")) == nil)
    }

    @Test func `what is given away while it is asked for is left when it comes`() {
        var table = SubscriptionTable<String>()
        table.subscribe("a")
        _ = table.nextBatch()
        #expect(table.give { _ in true }.map(\.channel) == ["a"])
        #expect(table.nextBatch() == .init(unsubscribe: ["a"]))
        _ = table.answered(ByteBuffer(string: "a"), subscribed: true)
        _ = table.answered(ByteBuffer(string: "a"), subscribed: false)
        #expect(table.count == 0 && table.unanswered == 0)
    }
}

extension SubscriptionTable<String> {
    /// Subscribes to a channel, with its name as the subject.
    fileprivate mutating func subscribe(_ channel: String) { _ = subscribe(channel, as: channel) }
}
