// The doctor's findings about Redis's latency, its clock, and the workers' leases.

import RollcallModel
import Testing

@testable import RollcallDoctor
@testable import RollcallShards

@Suite("The doctor's time checks")
struct TimeChecksTests {
    @Test("latency is reported as median, high percentile and maximum")
    func latency() {
        var readings = MadeUp.readings()
        readings.roundTrips = .success((1...100).map { .microseconds($0 * 10) })
        #expect(readings.finding(.latency).found == "p50 0.51 ms, p99 1.0 ms, at most 1.0 ms over 100 PINGs")
        readings.roundTrips = .success([.milliseconds(1), .milliseconds(1), .milliseconds(900)])
        #expect(readings.finding(.latency).verdict == .warning)
        readings.roundTrips = .success(Array(repeating: .milliseconds(20), count: 9))
        #expect(readings.finding(.latency).verdict == .warning)
    }

    @Test("slow commands count for an hour")
    func slowCommands() {
        var readings = MadeUp.readings()
        readings.slowCommands = .success([
            .init(name: "KEYS", took: .milliseconds(900), ago: .seconds(60)),
            .init(name: "EVAL", took: .milliseconds(20), ago: .seconds(60)),
        ])
        #expect(readings.finding(.slowCommands).found.hasPrefix("1 within the last hour, the longest KEYS with 900 ms"))
        readings.slowCommands = .success([.init(name: "KEYS", took: .seconds(9), ago: .seconds(7200))])
        #expect(readings.finding(.slowCommands).verdict == .ok)
    }

    @Test("clocks: a difference above 0.5 s is a warning, one above the token leeway a failure")
    func clock() {
        func verdict(_ ahead: Duration, uncertainty: Duration = .milliseconds(1), leeway: Duration?) -> Finding.Verdict
        {
            var readings = MadeUp.readings()
            readings.clock = .success(.init(ahead: ahead, uncertainty: uncertainty))
            return readings.finding(.clock, leeway: leeway).verdict
        }
        #expect(verdict(.milliseconds(400), leeway: nil) == .ok)
        #expect(verdict(.milliseconds(-700), leeway: .seconds(30)) == .warning)
        #expect(verdict(.milliseconds(700), uncertainty: .milliseconds(300), leeway: .seconds(30)) == .ok)
        #expect(verdict(.seconds(-40), leeway: .seconds(30)) == .failure)
        #expect(verdict(.seconds(40), leeway: nil) == .warning)
    }

    @Test("a replica's clock far from its primary's is a failure, whatever this host's clock is")
    func replica() {
        var readings = MadeUp.readings()
        readings.clock = .success(.init(ahead: .seconds(2), uncertainty: .milliseconds(1)))
        readings.replicaClocks = ["10.0.0.8:6379": .success(.init(ahead: .seconds(2), uncertainty: .milliseconds(1)))]
        #expect(readings.finding(.clock).verdict == .warning)
        readings.replicaClocks["10.0.0.7:6379"] = .failure(.failed("away"))
        #expect(readings.finding(.clock).found.hasSuffix("(the clock of the replica 10.0.0.7:6379 could not be read)"))
        readings.replicaClocks["10.0.0.9:6379"] = .success(.init(ahead: .zero, uncertainty: .milliseconds(1)))
        #expect(readings.finding(.clock).verdict == .failure)
        #expect(readings.finding(.clock).found.contains("10.0.0.9:6379"))
    }

    @Test("dead workers that are not swept are reported")
    func leases() {
        var readings = MadeUp.readings()
        readings.workers = .success([])
        #expect(readings.finding(.workers).found == "none yet")
        readings.workers = .success([
            MadeUp.worker("w1.a", ends: .seconds(4)), MadeUp.worker("w2.b", ends: .seconds(-2)),
        ])
        #expect(readings.finding(.workers) == Finding(.workers, .ok, "1 alive, 1 dead and not swept yet"))
        readings.workers = .success([
            MadeUp.worker("w1.a", ends: .seconds(4)), MadeUp.worker("w2.b", ends: .seconds(-90)),
        ])
        #expect(readings.finding(.workers).verdict == .warning)
        readings.workers = .success([MadeUp.worker("w2.b", ends: .seconds(-2))])
        #expect(readings.finding(.workers).advice?.contains("start a worker") == true)
    }

    @Test("different versions at the same time, and formats of later versions, are reported")
    func versions() {
        var readings = MadeUp.readings()
        readings.workers = .success([
            MadeUp.worker("w1.a", ends: .seconds(4)), MadeUp.worker("w2.b", ends: .seconds(4), ["version": "0.0.9"]),
            MadeUp.worker("w3.c", ends: .seconds(-4), ["version": "0.0.1", "format": "9"]),
        ])
        let mixed = readings.finding(.versions)
        #expect(mixed.verdict == .warning && mixed.found.hasPrefix("0.0.9 and \(RollcallVersion.current)"))
        readings.workers = .success([MadeUp.worker("w1.a", ends: .seconds(4), ["format": "2"])])
        #expect(readings.finding(.versions).found.contains("format 1"))
    }

    @Test("amounts are written in readable units")
    func amounts() {
        #expect(
            [512, 1024, 1536, 157_286_400, 8 << 30].map(Amount.bytes) == [
                "512 bytes", "1 KiB", "1.5 KiB", "150 MiB", "8 GiB",
            ])
        #expect(
            [Duration.microseconds(84), .microseconds(1_260), .milliseconds(84)].map(Amount.milliseconds) == [
                "0.08 ms", "1.3 ms", "84 ms",
            ])
    }
}
