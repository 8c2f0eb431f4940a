import RollcallProtocol
import Testing

@Suite struct HistogramTests {
    @Test("a duration counts in the first bucket that is long enough, and the longest in the last")
    func buckets() {
        var histogram = Histogram()
        for nanoseconds in [-5, 0, 100_000, 100_001, 3_000_000_000, .max] as [Int64] {
            histogram.record(nanoseconds: nanoseconds)
        }
        #expect(histogram.counts.first == 3)
        #expect(histogram.counts[1] == 1)
        #expect(histogram.counts[Histogram.bounds.firstIndex(of: 5_000_000_000)!] == 1)
        #expect(histogram.counts.last == 1)
        #expect(histogram.count == 6 && histogram.nanoseconds == .max)
    }

    @Test("a quantile is interpolated within its bucket, and beyond the last bound it is that bound")
    func quantiles() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == nil)
        for _ in 0..<98 { histogram.record(nanoseconds: 60_000) }
        histogram.record(nanoseconds: 2_000_000)
        #expect(histogram.quantile(0.5) == 50_510)
        #expect(histogram.quantile(0.99) == 1_015_000)
        for _ in 0..<99 { histogram.record(nanoseconds: 20_000_000_000) }
        #expect(histogram.quantile(0.99) == Histogram.bounds.last)
    }

    @Test("two histograms add up, and subtracting an earlier state gives what was added since")
    func sums() {
        var (first, second) = (Histogram(), Histogram())
        first.record(nanoseconds: 1)
        second.record(nanoseconds: 200_000)
        let both = first + second
        #expect(both.count == 2 && both.nanoseconds == 200_001)
        #expect(both - first == second)
    }

    @Test("any duration is accepted, even negative ones of clocks that disagree")
    func durations() {
        var histogram = Histogram()
        histogram.record(.milliseconds(7))
        #expect(histogram.nanoseconds == 7_000_000)
        histogram.record(.milliseconds(-7))
        histogram.record(.seconds(Int64.max))
        #expect(histogram.counts.first == 1 && histogram.counts.last == 1)
    }
}
