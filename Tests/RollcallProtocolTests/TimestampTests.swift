import RollcallProtocol
import Testing

@Suite("Timestamps")
struct TimestampTests {
    /// Regression: a number that anyone can publish to Redis crashed every worker that received it.
    @Test("a time beyond all limits is clamped")
    func farTimes() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(last.advanced(by: .milliseconds(Int64.max)) == last)
        #expect(first.advanced(by: .milliseconds(Int64.min)) == first)
        #expect(last.since(first) == .milliseconds(Int64.max))
        #expect(first.since(last) == .milliseconds(Int64.min))
        #expect((Duration.zero - first.since(last)).milliseconds == .max)
        #expect((first.since(last) - .seconds(1)).milliseconds == .min)
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
        #expect(Timestamp(milliseconds: 0).advanced(by: .seconds(Int64.max)) == last)
        #expect(Timestamp(milliseconds: 0).advanced(by: .seconds(Int64.min)) == first)
    }
}
