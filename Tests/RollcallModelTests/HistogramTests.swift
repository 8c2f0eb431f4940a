import RollcallModel
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

    @Test("durations of any kind are taken: what clocks that disagree come to, too")
    func durations() {
        var histogram = Histogram()
        histogram.record(.milliseconds(7))
        #expect(histogram.nanoseconds == 7_000_000)
        histogram.record(.milliseconds(-7))
        histogram.record(.seconds(Int64.max))
        #expect(histogram.counts.first == 1 && histogram.counts.last == 1)
    }
}
