// The subject: one device types, another on another worker looks.

import RollcallClient
import RollcallLoad
import RollcallModel

/// Two devices of two people in one conversation.
struct TypingProbe {
    private let typist: RawDevice
    private let observer: RawDevice
    private let conversation: ConversationID = "bench"
    private var isTyping = false

    init(from first: DevWorker, to second: DevWorker) throws {
        typist = try RawDevice("alice", at: first, in: conversation)
        observer = try RawDevice("bob", at: second, in: conversation)
    }

    /// Starts typing, or stops: either is a change that is published and shown at once.
    ///
    /// - Returns: from the write at the typist to the whole frame at the observer.
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
