// What a session types, by joined conversation. Most devices only read, so state is kept only for conversations in
// which the device has typed. It is kept for a moment after the device leaves, so that leaving and joining again does
// not bypass the throttle.

internal import RollcallModel

extension Session {
    /// The session's typing in one conversation.
    struct Sender: Hashable {
        /// `nil` once the session has left the conversation.
        var room: Room?
        let conversation: ConversationID
        var typing: TypingSender
    }

    func hasJoined(_ room: Room) -> Bool { joined.contains(room) }

    /// When typing next expires or continues, over all conversations.
    var nextTypingDue: Instant? { senders.lazy.compactMap(\.typing.nextDue).min() }

    /// Handles a typing signal from the client in a joined conversation; see ``TypingSender``.
    mutating func signalled(
        _ kind: TypingKind, in room: Room, of conversation: ConversationID, _ settings: ShardSettings.Typing,
        at now: Instant, time: Timestamp
    ) -> TypingSender.Decision? {
        if let index = sender(in: room) { return senders[index].typing.signalled(kind, at: now, time: time) }
        senders.removeAll { $0.room == nil && $0.typing.isRested(at: now) }
        if let index = senders.firstIndex(where: { $0.room == nil && $0.conversation == conversation }) {
            senders[index].room = room
            return senders[index].typing.signalled(kind, at: now, time: time)
        }
        var typing = TypingSender(expiry: settings.expiry, throttle: settings.throttle)
        defer { senders.append(Sender(room: room, conversation: conversation, typing: typing)) }
        return typing.signalled(kind, at: now, time: time)
    }

    /// Handles that the user stopped typing there.
    mutating func stopped(in room: Room) -> TypingSender.Decision? {
        sender(in: room).flatMap { senders[$0].typing.stopped() }
    }

    /// Handles that Redis refused the typing signal.
    mutating func refused(in room: Room) {
        if let index = sender(in: room) { senders[index].typing.ended() }
    }

    /// Removes the session from the conversation.
    mutating func left(_ room: Room) {
        joined.removeAll { $0 == room }
        guard let index = sender(in: room) else { return }
        senders[index].typing.ended()
        senders[index].room = nil
    }

    private func sender(in room: Room) -> Int? { senders.firstIndex { $0.room == room } }
}
