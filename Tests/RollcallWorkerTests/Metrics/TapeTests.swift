// From a loop's plain numbers to instruments that several loops share.

import Metrics
import RollcallModel
import Testing

@testable import RollcallAdmin
@testable import RollcallEdge
@testable import RollcallShards

@Suite struct TapeTests {
    private let metrics = PrometheusMetrics()

    private func value(_ name: String) -> Double? {
        metrics.exposition().split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .flatMap { Double($0.split(separator: " ")[1]) }
    }

    @Test("two loops' numbers add up, however often they are reported")
    func sums() {
        var counters = [CounterTape(.typingSignals, in: metrics), CounterTape(.typingSignals, in: metrics)]
        var gauges = [GaugeTape(.sessions, in: metrics), GaugeTape(.sessions, in: metrics)]
        for (first, second) in [(3, 10), (3, 10), (7, 11)] {
            counters[0].reach(first)
            counters[1].reach(second)
            gauges[0].stand(at: first)
            gauges[1].stand(at: 20 - second)
        }
        #expect(value("rollcall_typing_signals_total") == 18 && value("rollcall_sessions") == 16)
        gauges[0].stand(at: 0)
        #expect(value("rollcall_sessions") == 9)
    }

    @Test("a histogram is copied where that is supported, and only its new part")
    func histograms() {
        var tapes = [HistogramTape(.eventLoopLag, in: metrics), HistogramTape(.eventLoopLag, in: metrics)]
        var histogram = Histogram()
        for _ in 0..<2 {
            for _ in 0..<5000 { histogram.record(.milliseconds(3)) }
            tapes[0].reach(histogram)
            tapes[0].reach(histogram)
        }
        tapes[1].reach(histogram)
        #expect(value("rollcall_event_loop_lag_seconds_count") == 20_000)
        #expect(abs((value("rollcall_event_loop_lag_seconds_sum") ?? 0) - 60) < 1e-6)
    }

    @Test("a closed connection is reported by who closed it and by a known code")
    func endings() {
        func words(_ ending: EdgeConnection.Ending) -> String { "\(Closing(ending).by) \(Closing(ending).code)" }
        #expect(words(.lost) == "nobody none" && words(.peer(nil)) == "peer none")
        #expect(words(.here(.tooSlow)) == "worker 4001" && words(.peer(.init(rawValue: 1001))) == "peer 1001")
        for code in [999, 1016, 3000, 4004, 4107, 4999] as [UInt16] {
            #expect(words(.peer(.init(rawValue: code))) == "peer other")
        }
    }
}
