// What a session types, by the conversations that it has joined. Most devices only read: what a typist needs is kept for
// those conversations in which the device has typed.

internal import RollcallModel

extension Session {
    /// Its typing in one conversation.
    struct Sender: Hashable, Sendable {
        let room: RoomKey
        var typing: TypingSender
    }

    func hasJoined(_ room: RoomKey) -> Bool { joined.contains(room) }

    /// When the next of its typing ends, or goes on.
    var nextTypingDue: Instant? { senders.lazy.compactMap(\.typing.nextDue).min() }

    /// The client says that the person types in a conversation that it has joined; see ``TypingSender``.
    mutating func signalled(
        in room: RoomKey, _ settings: ShardSettings.Typing, at now: Instant, time: Timestamp
    ) -> TypingSender.Decision? {
        if let index = sender(in: room) { return senders[index].typing.signalled(at: now, time: time) }
        var typing = TypingSender(expiry: settings.expiry, throttle: settings.throttle)
        defer { senders.append(Sender(room: room, typing: typing)) }
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
        senders.removeAll { $0.room == room }
    }

    private func sender(in room: RoomKey) -> Int? { senders.firstIndex { $0.room == room } }
}
