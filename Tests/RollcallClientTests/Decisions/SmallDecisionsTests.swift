// The message budget, the connection's liveness, the device's state, the server's clock, and presence requests.

import RollcallModel
import Testing

@testable import RollcallClient

@Suite struct MessageBudgetTests {
    private let start = ContinuousClock.now

    @Test("a worker's own budget is never exceeded, from the first message on")
    func neverTooMany() {
        var budget = MessageBudget(at: start)
        budget.limitsLearnt(.standard, at: start)
        var bucket = 200.0
        for millisecond in 0..<20_000 {
            bucket = min(200, bucket + 0.05)
            let sent = budget.allowance(at: start + .milliseconds(millisecond))
            budget.spend(sent)
            bucket -= Double(sent)
            #expect(bucket >= 0)
        }
    }

    @Test("the budget is refilled at the worker's rate minus a tenth")
    func refills() {
        var budget = MessageBudget(at: start)
        budget.limitsLearnt(.standard, at: start)
        budget.spend(budget.allowance(at: start))
        #expect(budget.allowance(at: start) == 0)
        let next = budget.nextRoom()
        #expect(next > start && next < start + .milliseconds(30))
        #expect(budget.allowance(at: next + .milliseconds(1)) == 1)
        #expect(budget.allowance(at: start + .seconds(1)) == 45)
        #expect(budget.allowance(at: start + .seconds(60)) == 150)
    }

    @Test("messages sent before the worker named its limits count against them")
    func limitsLearntLater() {
        var budget = MessageBudget(at: start)
        budget.spend(15)
        budget.limitsLearnt(
            .init(watchedUsers: 1, joinedConversations: 1, messageBytes: 1, messageRate: 1, messageBurst: 24), at: start
        )
        #expect(budget.allowance(at: start) == 3)
    }
}

@Suite struct LivenessTests {
    private let start = ContinuousClock.now
    private var liveness: Liveness

    init() {
        liveness = Liveness(ping: .seconds(10), slack: .seconds(2), at: start)
    }

    @Test("a connection is alive while anything arrives within two pings and some slack")
    mutating func lives() {
        liveness.heard(at: start + .seconds(20))
        #expect(liveness.deadlinePassed(at: start + .seconds(22)) == .alive)
        #expect(liveness.deadline == start + .seconds(42))
        #expect(liveness.deadlinePassed(at: start + .seconds(42)) == .dead)
    }

    @Test("after sleep, the client sends a ping first, and decides by the answer")
    mutating func asleep() {
        #expect(liveness.deadlinePassed(at: start + .seconds(600)) == .ask)
        #expect(liveness.deadlinePassed(at: start + .seconds(602)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(603)) == .dead)
        liveness.answered(at: start + .seconds(602))
        #expect(liveness.deadline == start + .seconds(624))
    }

    @Test("a connection whose end is always reported needs no liveness check")
    func alwaysHeard() {
        var liveness = Liveness()
        liveness.heard(at: start)
        #expect(liveness.deadline == nil)
        #expect(liveness.doubted(at: start) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(3600)) == .alive)
    }

    @Test("one ping answers a doubt, however often it is raised")
    mutating func doubted() {
        #expect(liveness.doubted(at: start) == .ask)
        #expect(liveness.doubted(at: start + .seconds(1)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(3)) == .dead)
    }

    @Test("data in flight before the ping does not answer it, but the answer may have to wait behind that data")
    mutating func underWay() {
        #expect(liveness.doubted(at: start) == .ask)
        liveness.heard(at: start + .seconds(1))
        #expect(liveness.doubted(at: start + .seconds(2)) == .alive, "it is still asked")
        #expect(liveness.deadlinePassed(at: start + .seconds(3)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(4)) == .dead)
        liveness.answered(at: start + .seconds(4))
        #expect(liveness.doubted(at: start + .seconds(5)) == .ask)
    }
}

@Suite struct AttentionTests {
    private let start = ContinuousClock.now
    private var attention = Attention(idleAfter: .seconds(300))

    @Test("a short loss of focus has no effect, the background does")
    mutating func phases() {
        #expect(attention.state == .active)
        attention.phaseChanged(to: .inactive, at: start)
        #expect(attention.state == .active)
        attention.phaseChanged(to: .background, at: start)
        attention.phaseChanged(to: .inactive, at: start)
        #expect(attention.state == .background)
        attention.phaseChanged(to: .active, at: start)
        #expect(attention.state == .active)
    }

    @Test("a device becomes idle without reported input, and active with the next")
    mutating func idle() {
        attention.inputHappened(at: start)
        #expect(attention.deadline == start + .seconds(300))
        attention.deadlinePassed(at: start + .seconds(299))
        #expect(attention.state == .active)
        attention.deadlinePassed(at: start + .seconds(300))
        #expect(attention.state == .idle)
        #expect(attention.deadline == nil)
        attention.edited(at: start + .seconds(301))
        #expect(attention.state == .active)
        #expect(attention.deadline == start + .seconds(601))
    }

    @Test("an application that reports no input never becomes idle")
    mutating func noReports() {
        attention.edited(at: start)
        #expect(attention.deadline == nil)
    }

    @Test("returning to the foreground counts as input")
    mutating func back() {
        attention.inputHappened(at: start)
        attention.phaseChanged(to: .background, at: start)
        #expect(attention.deadline == nil)
        attention.phaseChanged(to: .active, at: start + .seconds(1000))
        #expect(attention.deadline == start + .seconds(1300))
    }

    @Test("a state set explicitly stays until a phase change or input")
    mutating func outright() {
        attention.stateSet(.idle, at: start)
        #expect(attention.state == .idle)
        attention.inputHappened(at: start)
        #expect(attention.state == .active)
        attention.stateSet(.background, at: start)
        #expect(attention.state == .background)
        attention.stateSet(.active, at: start)
        #expect(attention.state == .active)
    }
}

@Suite struct ServerClockTests {
    @Test("server time advances with this device's monotonic clock")
    func goesOn() {
        let start = ContinuousClock.now
        var clock = ServerClock()
        #expect(clock.time(at: start) == nil)
        _ = clock.timeHeard(Timestamp(milliseconds: 5000), at: start)
        #expect(clock.time(at: start + .milliseconds(250)) == Timestamp(milliseconds: 5250))
    }

    @Test("a clock that was set is followed in both directions and reported; a slow answer changes nothing")
    func set() {
        let start = ContinuousClock.now
        var clock = ServerClock()
        func moves(to seconds: Int64, age: Duration, after passed: Duration) -> Bool {
            clock.timeHeard(Timestamp(milliseconds: seconds * 1000), age: age, at: start + passed)
        }
        #expect(!moves(to: 10_000, age: .zero, after: .zero), "it is the first")
        #expect(!moves(to: 10_058, age: .seconds(4), after: .seconds(60)))
        #expect(clock.time(at: start + .seconds(60)) == Timestamp(milliseconds: 10_060_000))
        #expect(moves(to: 20_000, age: .seconds(1), after: .seconds(120)))
        #expect(clock.time(at: start + .seconds(120)) == Timestamp(milliseconds: 20_000_000))
        #expect(moves(to: 10_000, age: .seconds(1), after: .seconds(120)))
        #expect(clock.time(at: start + .seconds(120)) == Timestamp(milliseconds: 10_001_000))
    }

    @Test(
        "the time is requested once a minute, and twice soon after a time in the future"
    )
    func asked() {
        let start = ContinuousClock.now
        var clock = ServerClock()
        #expect(clock.deadline == nil)
        _ = clock.timeHeard(Timestamp(milliseconds: 5000), at: start)
        clock.momentHeard(Timestamp(milliseconds: 5900), at: start)
        #expect(clock.deadline == start + .seconds(60))
        clock.momentHeard(Timestamp(milliseconds: 7000), at: start)
        #expect(clock.deadline == start + .seconds(5))
        clock.asked(at: start + .seconds(5))
        _ = clock.timeHeard(Timestamp(milliseconds: 10_000), at: start + .seconds(5))
        #expect(clock.deadline == start + .seconds(10), "the worker may not know yet")
        clock.asked(at: start + .seconds(10))
        clock.momentHeard(Timestamp(milliseconds: 7000), at: start)
        #expect(clock.deadline == start + .seconds(70))
    }
}

@Suite struct FetchTests {
    @Test("an answer may arrive in parts, and unrequested users are not part of it")
    func parts() {
        var fetch = Fetch(of: ["bob", "carol", "bob"])
        #expect(fetch.missing == ["bob", "carol"])
        fetch.heard([.of("carol", .away), .of("dave", .online)])
        #expect(fetch.missing == ["bob"])
        #expect(!fetch.isComplete)
        fetch.heard([.of("bob", .online)])
        #expect(fetch.isComplete)
        #expect(fetch.found == ["carol": .of("carol", .away), "bob": .of("bob", .online)])
    }
}
