import Foundation
import RollcallLoad
import RollcallModel
import TestSupport
import Testing

@Suite("Results of several processes")
struct TallyTests {
    @Test("merge into the percentiles of all, by way of JSON")
    func merging() throws {
        var (all, halves) = (Timings(), [Timings(), Timings()])
        for microseconds in 1...10_000 {
            all.record(.microseconds(microseconds * 7))
            // All slow ones are in one process.
            halves[microseconds > 9_000 ? 1 : 0].record(.microseconds(microseconds * 7))
        }
        let merged = try halves.map { try sent($0) }.reduce(Timings(), +)
        #expect(merged.count == 10_000)
        for part in [0.0, 0.5, 0.9, 0.99, 0.999, 1] {
            #expect(merged.milliseconds(part) == all.milliseconds(part), "\(part)")
        }
        let p99 = try #require(merged.milliseconds(0.99))
        #expect(abs(p99 - 69.3) < 0.07, "three digits of \(p99)")
    }

    @Test("have times from zero to an hour, and none if nothing happened")
    func range() throws {
        var times = Timings()
        #expect(times.milliseconds(0.5) == nil)
        times.record(.milliseconds(-5))
        #expect(times.milliseconds(1) == 0)
        times.record(.seconds(86_400))
        #expect(try #require(times.milliseconds(1)) >= 3_599_000)
        #expect(times.count == 2)
    }

    @Test("add up, each figure of them")
    func sum() throws {
        let start = Moment.now
        var (left, right) = (Tally(), Tally())
        (left.present, right.present) = (3, 4)
        (left.seen, right.seen, left.expected, right.expected) = (1, 2, 5, 6)
        left.goodbyes = ["busy": 2, "4001": 1]
        right.goodbyes = ["busy": 3]
        (left.firstLoss, right.firstLoss) = (start + .seconds(2), start + .seconds(1))
        (left.lastReturn, right.lastReturn) = (nil, start + .seconds(3))
        right.away.record(.seconds(2))
        let sum = try sent(left) + sent(right)
        #expect((sum.present, sum.seen, sum.expected) == (7, 3, 11))
        #expect(sum.goodbyes == ["busy": 5, "4001": 1])
        #expect(sum.firstLoss == start + .seconds(1))
        #expect(sum.lastReturn == start + .seconds(3))
        #expect(sum.away.count == 1)
        #expect(sum.counts.away.count == 0 && sum.counts.present == 7)
    }

    private func sent<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
}

@Suite("The workers' computed figures")
struct WorkersMeterTests {
    private func beat(_ worker: String, at seconds: Int64, processor: Int64) -> WorkersMeter.Beat {
        WorkersMeter.Beat(
            worker: worker, startedAt: Timestamp(milliseconds: 1_000),
            at: Timestamp(milliseconds: 1_000 + seconds * 1_000), processor: processor)
    }

    @Test("count from the start, across heartbeats")
    func cores() throws {
        var meter = WorkersMeter()
        meter.heard([beat("a", at: 100, processor: 50_000), beat("b", at: 100, processor: 9_000)])
        meter.begin()
        #expect(meter.cores == nil, "no heart has beaten since")
        meter.heard([beat("a", at: 104, processor: 52_000), beat("b", at: 104, processor: 9_400)])
        #expect(meter.seconds == 2.4)
        #expect(abs(try #require(meter.cores) - 0.6) < 1e-9)
    }

    @Test("count a worker that started later from its own start")
    func newcomer() {
        var meter = WorkersMeter()
        meter.heard([beat("a", at: 100, processor: 50_000)])
        meter.begin()
        meter.heard([
            beat("a", at: 110, processor: 50_000),
            WorkersMeter.Beat(
                worker: "b", startedAt: Timestamp(milliseconds: 106_000), at: Timestamp(milliseconds: 111_000),
                processor: 700),
        ])
        #expect(meter.seconds == 0.7)
        #expect(meter.workers == 2)
    }
}
