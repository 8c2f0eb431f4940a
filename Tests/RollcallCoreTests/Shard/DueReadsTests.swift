import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct DueReadsTests {
    private let watches: [Watch]
    private var reads = DueReads()

    init() {
        watches = (0..<3).map { Watch(user: try! UserID("u\($0)"), number: $0) }
    }

    @Test("users are read once each, by number")
    mutating func once() {
        reads.insert(watches[2])
        reads.insert([watches[0], watches[2]])
        #expect(reads.isDue && reads.count == 2)
        #expect(reads.take() == [watches[0], watches[2]])
        #expect(!reads.isDue && reads.count == 0)
    }

    @Test("a failed read is due again after a heartbeat, unless nobody watches the user any more")
    mutating func failed() {
        for watch in watches { reads.insert(watch, .withHeartbeat) }
        #expect(!reads.isDue && reads.count == 3)
        reads.forget(watches[0])
        reads.heartbeatCame()
        reads.forget(watches[1])
        #expect(reads.take() == [watches[2]] && reads.count == 0)
    }
}
