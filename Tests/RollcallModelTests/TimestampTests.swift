import RollcallModel
import Testing

@Suite("Timestamps")
struct TimestampTests {
    /// A number that anybody can publish to Redis once ended every worker that heard it.
    @Test("a time beyond all times is as far as can be")
    func farTimes() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(last.advanced(by: .milliseconds(Int64.max)) == last)
        #expect(first.advanced(by: .milliseconds(Int64.min)) == first)
        #expect(last.since(first) == .milliseconds(Int64.max))
        #expect(first.since(last) == .milliseconds(Int64.min))
    }
}
