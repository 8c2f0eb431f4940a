// What a session types, by the conversations that it has joined. Most devices only read: what a typist needs is kept for
// those conversations in which the device has typed, and for a moment after it has left them: else whoever left and joined
// again would type more often than the throttle allows.

internal import RollcallModel

extension Session {
    /// Its typing in one conversation.
    struct Sender: Hashable, Sendable {
        /// `nil` once the conversation is left.
        var room: RoomKey?
        let conversation: ConversationID
        var typing: TypingSender
    }

    func hasJoined(_ room: RoomKey) -> Bool { joined.contains(room) }

    /// When the next of its typing ends, or goes on.
    var nextTypingDue: Instant? { senders.lazy.compactMap(\.typing.nextDue).min() }

    /// The client says that the person types in a conversation that it has joined; see ``TypingSender``.
    mutating func signalled(
        in room: RoomKey, of conversation: ConversationID, _ settings: ShardSettings.Typing, at now: Instant,
        time: Timestamp
    ) -> TypingSender.Decision? {
        if let index = sender(in: room) { return senders[index].typing.signalled(at: now, time: time) }
        senders.removeAll { $0.room == nil && $0.typing.isRested(at: now) }
        if let index = senders.firstIndex(where: { $0.room == nil && $0.conversation == conversation }) {
            senders[index].room = room
            return senders[index].typing.signalled(at: now, time: time)
        }
        var typing = TypingSender(expiry: settings.expiry, throttle: settings.throttle)
        defer { senders.append(Sender(room: room, conversation: conversation, typing: typing)) }
        return typing.signalled(at: now, time: time)
    }

    /// The person types there no more.
    mutating func stopped(in room: RoomKey) -> TypingSender.Decision? {
        sender(in: room).flatMap { senders[$0].typing.stopped() }
    }

    /// Redis did not take the typing.
    mutating func refused(in room: RoomKey) {
        if let index = sender(in: room) { senders[index].typing.refused() }
    }

    /// The session is in the conversation no more.
    mutating func left(_ room: RoomKey) {
        joined.removeAll { $0 == room }
        guard let index = sender(in: room) else { return }
        senders[index].typing.refused()
        senders[index].room = nil
    }

    private func sender(in room: RoomKey) -> Int? { senders.firstIndex { $0.room == room } }
}
