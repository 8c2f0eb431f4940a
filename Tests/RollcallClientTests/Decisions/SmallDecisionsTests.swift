// The connection's liveness, the device's state, and the server's clock.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct LivenessTests {
    private let start = ContinuousClock.now
    private var liveness: Liveness

    init() {
        liveness = Liveness(interval: .seconds(10), at: start)
    }

    @Test("after two silent intervals the client asks, and waits for one")
    mutating func lives() {
        liveness.heard(at: start + .seconds(20))
        #expect(liveness.deadlinePassed(at: start + .seconds(39)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(40)) == .ask)
        #expect(liveness.deadlinePassed(at: start + .seconds(49)) == .alive)
        var answered = liveness
        answered.answered(start + .seconds(40), at: start + .seconds(49))
        #expect(answered.deadline == start + .seconds(69))
        #expect(liveness.deadlinePassed(at: start + .seconds(50)) == .dead)
    }

    @Test("after sleep the client asks once more before it decides, and decides the second time")
    mutating func asleep() {
        #expect(liveness.deadlinePassed(at: start + .seconds(600)) == .ask)
        #expect(liveness.deadlinePassed(at: start + .seconds(700)) == .ask)
        #expect(liveness.deadlinePassed(at: start + .seconds(800)) == .dead)
    }

    @Test("one ping answers a doubt, however often it is raised, and must be answered within three seconds")
    mutating func doubted() {
        #expect(liveness.doubted(at: start) == .ask)
        #expect(liveness.doubted(at: start + .seconds(1)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(3)) == .dead)
    }

    @Test(
        "data in flight, and the answer to an earlier ping, answer nothing, but the answer may have to wait behind them"
    )
    mutating func underWay() {
        #expect(liveness.doubted(at: start) == .ask)
        liveness.heard(at: start + .seconds(1))
        liveness.answered(start - .seconds(5), at: start + .seconds(1))
        #expect(liveness.deadlinePassed(at: start + .seconds(3)) == .alive)
        #expect(liveness.deadlinePassed(at: start + .seconds(4)) == .dead)
    }

    @Test("a doubt lasts ten seconds at most, whatever arrives but the answer")
    mutating func longDoubt() {
        #expect(liveness.doubted(at: start) == .ask)
        for second in 1...9 {
            liveness.heard(at: start + .seconds(second))
            #expect(liveness.deadlinePassed(at: start + .seconds(second)) == .alive)
        }
        var answered = liveness
        answered.answered(start, at: start + .milliseconds(9900))
        #expect(answered.deadline == start + .milliseconds(29_900))
        #expect(liveness.deadlinePassed(at: start + .seconds(10)) == .dead)
    }
}

@Suite struct DeviceNameTests {
    @Test("without a name, each client draws one, and keeps it; a token that names a device is left to do so")
    func drawn() async throws {
        func hellos(_ token: String) async throws -> [DeviceID?] {
            let worker = try await ScriptedWorker()
            let client = RollcallClient(url: worker.url) { token }
            client.connect()
            try await client.isConnected()
            worker.connections[0].drop()
            try await eventually("it is back") {
                worker.connections.count == 2 && worker.connections[1].received.count > 0
            }
            return worker.connections.compactMap { connection in
                if case .hello(let hello) = connection.messages.first { .some(hello.device) } else { nil }
            }
        }
        let named = try await [hellos("alice"), hellos("alice")]
        #expect(named.allSatisfy { $0.count == 2 && $0[0] != nil && $0[0] == $0[1] })
        #expect(named[0] != named[1])
        // {"sub":"alice","device":"kiosk"}
        #expect(try await hellos("e30.eyJzdWIiOiJhbGljZSIsImRldmljZSI6Imtpb3NrIn0.c2ln") == [nil, nil])
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
    @Test("server time advances with this device's monotonic clock; a set clock is followed, a slow answer is not")
    func followed() {
        let start = ContinuousClock.now
        var clock = ServerClock()
        #expect(clock.time(at: start) == nil && clock.deadline == nil)
        func heard(_ seconds: Int64, age: Duration, after passed: Duration) -> Int64? {
            _ = clock.heard(Timestamp(milliseconds: seconds * 1000), age: age, at: start + passed)
            return clock.time(at: start + passed)?.milliseconds
        }
        #expect(heard(10_000, age: .zero, after: .zero) == 10_000_000)
        #expect(clock.time(at: start + .milliseconds(250))?.milliseconds == 10_000_250)
        #expect(clock.deadline == start + .seconds(60))
        #expect(heard(10_058, age: .seconds(4), after: .seconds(60)) == 10_060_000)
        #expect(heard(20_000, age: .seconds(1), after: .seconds(120)) == 20_000_000)
        #expect(heard(10_000, age: .seconds(1), after: .seconds(120)) == 10_001_000)
    }
}
