import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct DueReadsTests {
    private let watches: [Watch]
    private let room = Room(conversation: "c", number: 0)
    private var reads = DueReads()

    init() {
        watches = (0..<3).map { Watch(user: try! UserID("u\($0)"), number: $0) }
    }

    @Test("users and rooms are read once each, by number")
    mutating func once() {
        reads.insert(watches[2])
        reads.insert([watches[0], watches[2]])
        reads.insert(room)
        reads.insert(room)
        #expect(reads.hasWatches && reads.count == 3)
        #expect(reads.takeWatches() == [watches[0], watches[2]] && reads.takeRooms() == [room])
        #expect(!reads.hasWatches && reads.count == 0 && reads.takeRooms().isEmpty)
    }

    @Test("a failed read is due again after a heartbeat, unless nobody watches the user any more")
    mutating func failed() {
        for watch in watches { reads.insert(watch, .withHeartbeat) }
        #expect(!reads.hasWatches && reads.count == 3)
        reads.forget(watches[0])
        reads.heartbeatCame()
        reads.forget(watches[1])
        #expect(reads.takeWatches() == [watches[2]] && reads.count == 0)
    }
}
