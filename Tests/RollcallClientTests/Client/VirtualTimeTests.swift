// A client in which everything runs on one loop, as in a simulation.

import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct VirtualTimeTests {
    /// A connection of which only the worker's end matters.
    private final class Ignored: Wire {
        let mayDieSilently = false
        func send(_ request: ClientRequest) {}
        func flush() {}
        func close(_ done: @escaping () -> Void) { done() }
        func abort() {}
    }

    @Test("the token, random numbers and emitted values need no task")
    func synchronous() throws {
        let loop = EmbeddedEventLoop()
        let start = ContinuousClock.now
        let clock = SteadyClock { [loop] in start + .nanoseconds(Int64(loop.now.uptimeNanoseconds)) }
        let answers = NIOLockedValueBox<[TokenSource.Answer]>([])
        let dialled = NIOLockedValueBox<[String]>([])
        let client = RollcallClient(
            urls: ["wss://a", "wss://b", "wss://c"], device: "phone", options: ClientOptions(),
            token: TokenSource { answer in answers.withLockedValue { $0.append(answer) } }, on: loop, by: clock,
            jitter: Jitter { .max }
        ) { address, _, _ in
            dialled.withLockedValue { $0.append(address.host) }
            return Ignored()
        }
        let states = client.connection.makeAsyncIterator()
        client.connect()
        loop.run()
        #expect(states.pending() == .connecting)
        #expect(states.pending() == nil, "a value is read once")
        let answer = try #require(answers.withLockedValue { $0.popLast() })
        answer(.success("alice"))
        loop.run()
        #expect(dialled.withLockedValue { $0.count } == 1)
        client.close()
        loop.run()
        #expect(states.pending() == .closed)
        #expect(states.pending() == nil)
    }

    @Test("a timer between two nanoseconds fires once, after that time")
    func roundedUp() {
        let loop = EmbeddedEventLoop()
        let start = ContinuousClock.now
        let reads = NIOLockedValueBox(0)
        let clock = SteadyClock { [loop] in
            // If a timer were set again and again, this time would never pass.
            let isStuck = reads.withLockedValue {
                $0 += 1
                return $0 > 100
            }
            return start + (isStuck ? .seconds(1) : .nanoseconds(Int64(loop.now.uptimeNanoseconds)))
        }
        var rung: [UInt64] = []
        let alarm = Alarm(on: loop, by: clock) { rung.append(loop.now.uptimeNanoseconds) }
        alarm.set(start + .nanoseconds(3) / 2)
        loop.advanceTime(by: .nanoseconds(5))
        #expect(rung == [2])
        #expect(reads.withLockedValue { $0 } < 10)
    }
}
