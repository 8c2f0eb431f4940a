// The subject of the bench: one device types, and a device on another worker observes.

import RollcallClient
import RollcallLoad
import RollcallModel

/// Two devices of two users in one conversation.
struct TypingProbe {
    private let typist: RawDevice
    private let observer: RawDevice
    private let conversation: ConversationID = "bench"
    private var isTyping = false

    init(from first: DevWorker, to second: DevWorker) throws {
        typist = try RawDevice("alice", at: first, in: conversation)
        observer = try RawDevice("bob", at: second, in: conversation)
    }

    /// Starts or stops typing. Either change is published and shown at once.
    ///
    /// - Returns: the time from the write at the typing device to the complete frame at the observing one.
    mutating func measure() throws -> Duration {
        isTyping.toggle()
        let frame = DeviceFrame.message(.typing(conversation, isTyping))
        let count = isTyping ? 1 : 0
        let start = ContinuousClock.now
        try typist.socket.write(frame)
        while true {
            let (message, arrival) = try observer.receive()
            if case .typing(let typing) = message, typing.count == count { return start.duration(to: arrival) }
        }
    }
}
