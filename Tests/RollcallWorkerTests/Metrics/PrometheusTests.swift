// The page that Prometheus reads, line by line.

import Metrics
import RollcallModel
import Testing

@testable import RollcallAdmin
@testable import RollcallShards

@Suite struct PrometheusTests {
    private let metrics = PrometheusMetrics()

    /// The page without the system's figures of this process.
    private var page: [String] {
        metrics.exposition().split(separator: "\n").map(String.init).filter { !$0.contains("process_") }
    }

    @Test("instruments with the same name and labels are the same, in any order of the labels")
    func oneInstrument() {
        Counter(label: "a_total", dimensions: [("x", "1"), ("b", "2")], factory: metrics).increment(by: 2)
        Counter(label: "a_total", dimensions: [("b", "2"), ("x", "1")], factory: metrics).increment(by: 3)
        Counter(label: "a_total", dimensions: [("b", "3")], factory: metrics).increment()
        #expect(page == ["# TYPE a_total counter", #"a_total{b="2",x="1"} 5"#, #"a_total{b="3"} 1"#])
    }

    @Test("type and help are above a metric")
    func help() {
        Meter(label: Metric.sessions.rawValue, factory: metrics).set(7)
        #expect(
            page == [
                "# HELP rollcall_sessions Sessions that are welcomed and connected.", "# TYPE rollcall_sessions gauge",
                "rollcall_sessions 7",
            ])
    }

    @Test(
        "labels may have any value, and names are what Prometheus accepts",
        arguments: [
            (#"say "hi""#, #"say \"hi\""#), (#"C:\new"#, #"C:\\new"#), ("two\nlines", #"two\nlines"#), ("é{}", "é{}"),
        ])
    func escaping(value: String, written: String) {
        Counter(label: "9.lives-http:x", dimensions: [("1.a:b", value)], factory: metrics).increment()
        #expect(page == ["# TYPE __lives_http:x counter", "__lives_http:x{__a_b=\"\(written)\"} 1"])
    }

    @Test("a gauge goes up and down, to any number")
    func gauges() {
        let gauge = Meter(label: "g", factory: metrics)
        gauge.increment(by: 3)
        gauge.decrement(by: 0.5)
        #expect(page.last == "g 2.5")
        for (value, text) in [(-.infinity, "-Inf"), (.nan, "NaN"), (1e12, "1000000000000"), (1e-9, "1e-09")] {
            gauge.set(value)
            #expect(page.last == "g \(text)")
        }
        Gauge(label: "recorded", factory: metrics).record(4)
        #expect(page.last == "recorded 4")
    }

    @Test("a histogram's buckets are cumulative")
    func histograms() throws {
        let timer = Timer(label: "t_seconds", factory: metrics)
        for milliseconds in [1, 3, 3, 20_000] { timer.recordMilliseconds(milliseconds) }
        #expect(page.count == Histogram.bounds.count + 4)
        for line in [
            #"t_seconds_bucket{le="0.0005"} 0"#, #"t_seconds_bucket{le="0.001"} 1"#, #"t_seconds_bucket{le="0.005"} 3"#,
            #"t_seconds_bucket{le="10"} 3"#, #"t_seconds_bucket{le="+Inf"} 4"#, "t_seconds_count 4",
        ] { #expect(page.contains(line)) }
        let sum = try #require(page.first { $0.hasPrefix("t_seconds_sum ") }.flatMap { Double($0.dropFirst(14)) })
        #expect(abs(sum - 20.007) < 1e-9)
    }

    @Test("numbers without a known unit use buckets of powers of ten")
    func recorders() {
        let recorder = Recorder(label: "r", dimensions: [("a", "b")], factory: metrics)
        recorder.record(5)
        recorder.record(5e9)
        #expect(page.contains(#"r_bucket{a="b",le="1"} 0"#) && page.contains(#"r_bucket{a="b",le="10"} 1"#))
        #expect(page.contains(#"r_bucket{a="b",le="+Inf"} 2"#) && page.contains(#"r_count{a="b"} 2"#))
    }

    @Test("a destroyed instrument is not shown any more, and a name is never used for two kinds")
    func coming() {
        let counter = Counter(label: "c_total", factory: metrics)
        counter.increment()
        Meter(label: "c_total", factory: metrics).set(9)
        #expect(page == ["# TYPE c_total counter", "c_total 1"])
        counter.destroy()
        #expect(page.isEmpty)
    }

    @Test("nothing is lost with concurrent recording and reading")
    func concurrently() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { [metrics] in
                    let counter = Counter(label: "n_total", factory: metrics)
                    let gauge = Meter(label: "m", factory: metrics)
                    let timer = Timer(label: "t_seconds", factory: metrics)
                    for _ in 0..<2000 {
                        counter.increment()
                        gauge.increment()
                        timer.recordMilliseconds(1)
                    }
                }
            }
            group.addTask { [metrics] in for _ in 0..<50 { _ = metrics.exposition() } }
        }
        #expect(page.contains("n_total 8000") && page.contains("m 8000") && page.contains("t_seconds_count 8000"))
    }

    @Test("the system reports what the process uses")
    func process() throws {
        let lines = metrics.exposition().split(separator: "\n")
        func value(_ metric: Metric) -> Double? {
            lines.first { $0.hasPrefix(metric.rawValue + " ") }.flatMap { Double($0.split(separator: " ")[1]) }
        }
        #expect(try #require(value(.cpuSeconds)) > 0 && #require(value(.mostOpenFiles)) > 16)
        #if os(Linux)
            #expect(try #require(value(.openFiles)) > 2 && #require(value(.residentMemory)) > 1_000_000)
            let started = try #require(value(.startTime))
            #expect(started > 1_700_000_000 && started < 4_000_000_000)
        #endif
    }
}
