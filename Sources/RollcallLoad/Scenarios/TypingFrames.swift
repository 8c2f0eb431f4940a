// Typing frames for all scenarios that use typing.

internal import RollcallModel

/// The frames for one conversation: joining it, and starting and stopping to type.
struct TypingFrames {
    let start: [UInt8]
    let stop: [UInt8]
    let join: [UInt8]

    /// - Parameter name: a valid conversation name.
    init(_ name: String) {
        guard let conversation = try? ConversationID(name) else {
            preconditionFailure("Load names its conversations by letters and numbers")
        }
        start = DeviceFrame.message(.typing(conversation, true))
        stop = DeviceFrame.message(.typing(conversation, false))
        join = DeviceFrame.message(.join(conversation, presence: false), id: .integer(2))
    }
}
