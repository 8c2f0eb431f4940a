import RollcallProtocol
import Testing

@testable import RollcallServer

@Suite("The recent histogram")
struct RecentHistogramTests {
    @Test("contains the last minute")
    func window() {
        var (total, recent) = (Histogram(), RecentHistogram())
        #expect(recent.lately.count == 0)
        for second in 0..<100 {
            for _ in 0..<(second == 30 ? 1000 : 1) { total.record(nanoseconds: 1) }
            recent.note(total)
            if second == 80 { #expect(recent.lately.count == 59 + 1000) }
        }
        #expect(recent.lately.count == 60)
    }
}
