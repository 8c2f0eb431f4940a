import Testing

@testable import RollcallCore

@Suite struct WriteRepairsTests {
    private let sessions: [Session]
    private var repairs = WriteRepairs()

    init() {
        sessions = (0..<3).map { Session(number: $0, peer: AnyDevice(), now: at(.zero)) }
    }

    @Test("failed steps are retried once each, by number, and none of a removed session")
    mutating func retries() {
        for index in [2, 0, 1, 2] { repairs.retryLater(sessions[index]) }
        repairs.forget(sessions[0])
        #expect(repairs.blockedCount == 2)
        #expect(repairs.takeBlocked() == [sessions[1], sessions[2]])
        #expect(repairs.blockedCount == 0 && repairs.takeBlocked().isEmpty)
    }

    @Test("a device that a dropped session left needs one sweep, which a new incarnation brings")
    mutating func sweeps() {
        #expect(repairs.takeNeedsSweep() == false)
        repairs.leftDevice()
        let needed = [repairs.takeNeedsSweep(), repairs.takeNeedsSweep()]
        #expect(needed == [true, false])
        repairs.leftDevice()
        repairs.retryLater(sessions[0])
        repairs.incarnationBegan()
        #expect(repairs.takeNeedsSweep() == false && repairs.takeBlocked().isEmpty)
    }
}
