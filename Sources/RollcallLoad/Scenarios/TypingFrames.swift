// What typing is made of, for all scenarios that have some.

internal import RollcallModel

/// What a device says of its typing in one conversation, as finished frames.
struct TypingFrames {
    let start: [UInt8]
    let stop: [UInt8]
    let join: [UInt8]

    /// - Parameter name: of the conversation, which is one.
    init(_ name: String) {
        guard let conversation = try? ConversationID(name) else {
            preconditionFailure("Load names its conversations by letters and numbers")
        }
        start = DeviceFrame.message(.typing(conversation, true))
        stop = DeviceFrame.message(.typing(conversation, false))
        join = DeviceFrame.message(.join(conversation, presence: false), id: .integer(2))
    }
}
