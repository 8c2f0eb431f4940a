import NIOCore
import Testing

@testable import RollcallRedis

@Suite struct PrimaryChoiceTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let old = RedisLocation.Address.host("10.0.0.1", port: 6379)
    private let new = RedisLocation.Address.host("10.0.0.2", port: 6379)

    /// Returns the primary after three sentinels have reported these, each with an epoch.
    private func heard(
        _ choice: inout PrimaryChoice, _ reports: [(RedisLocation.Address, Int)], after time: TimeAmount = .zero
    ) -> RedisLocation.Address? {
        let reports = reports.map { SentinelReport(primary: $0.0, epoch: $0.1) }
        let before = choice.current?.primary
        let hasChanged = choice.heard(reports, at: Self.start + time)
        #expect(hasChanged == (choice.current?.primary != before))
        return choice.current?.primary
    }

    @Test func `without reports, the last choice stays`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, []) == nil)
        #expect(heard(&choice, [(old, 1)]) == old)
        #expect(heard(&choice, [], after: .hours(1)) == old)
    }

    @Test func `the newest failover decides, not the number of reports`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(old, 4), (new, 5), (old, 4)]) == new)
    }

    @Test func `within an epoch most reports decide, and then the current primary`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(new, 0), (old, 0), (new, 0)]) == new)
        #expect(heard(&choice, [(old, 0), (new, 0)]) == new)
        #expect(heard(&choice, [(old, 0), (old, 0), (new, 0)]) == old)
        #expect(heard(&choice, [(old, 0), (new, 0)]) == old)
    }

    @Test func `a minority with older epochs is never believed, and a majority only if it stays with them`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(new, 5)]) == new)
        for seconds in Int64(0)..<100 { #expect(heard(&choice, [(old, 4)], after: .seconds(seconds)) == new) }
        for seconds in Int64(100)..<200 {
            // One sentinel that knows of the failover answers from time to time.
            let reports = seconds % 9 == 0 ? [(old, 4), (old, 4), (new, 5)] : [(old, 4), (old, 4)]
            #expect(heard(&choice, reports, after: .seconds(seconds)) == new)
        }
        let begun = TimeAmount.seconds(200)
        #expect(heard(&choice, [(new, 5)], after: begun) == new)
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun) == new)
        let most = PrimaryChoice.renumbering
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun + most - .milliseconds(1)) == new)
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun + most) == old)
        #expect(heard(&choice, [(new, 1), (old, 0)], after: begun + most) == new)
    }
}
