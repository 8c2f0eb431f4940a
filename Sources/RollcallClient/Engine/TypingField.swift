// Decides from the edits of one input field when its user counts as typing.

/// One input field, and whether its user is typing. Each event returns the signal that the worker needs now: whether the
/// user types, or `nil`. Created on any thread, used on the client's queue only.
final class TypingField: @unchecked Sendable {
    private enum Phase {
        /// The field contains only white space, or its text was sent, or it is not shown.
        case empty
        /// The field contains text, but not for long enough yet.
        case filling(since: ContinuousClock.Instant)
        case typing(signalled: ContinuousClock.Instant)
        /// The field still contains text, but was not edited for `inactivity`.
        case paused
    }

    let conversation: ConversationID
    private let settings: TypingSettings
    /// How often to renew the signal. Shorter than in the settings if the worker's `typing.expiry` requires it.
    private var throttle: Duration
    private var phase = Phase.empty
    /// The last edit, and what its user does as that said.
    private(set) var edited = ContinuousClock.now
    private(set) var kind = TypingKind.typing

    init(in conversation: ConversationID, settings: TypingSettings) {
        self.conversation = conversation
        self.settings = settings
        throttle = settings.throttle
    }

    var isTyping: Bool {
        if case .typing = phase { true } else { false }
    }

    /// When to call ``deadlinePassed(at:)``.
    var deadline: ContinuousClock.Instant? {
        switch phase {
        case .empty, .paused: nil
        case .filling(let since): since + settings.debounce
        case .typing(let signalled): min(signalled + throttle, edited + settings.inactivity)
        }
    }

    /// - Parameter filled: whether the field contains anything but white space.
    func edited(filled: Bool, kind: TypingKind, at now: ContinuousClock.Instant) -> Bool? {
        guard filled else { return ended() }
        let isOtherKind = kind != self.kind
        (edited, self.kind) = (now, kind)
        switch phase {
        case .empty: phase = .filling(since: now)
        case .typing where isOtherKind: return signal(at: now)
        case .filling, .typing: break
        case .paused: return signal(at: now)
        }
        return deadlinePassed(at: now)
    }

    /// Handles that the text was sent or deleted, the field was hidden, or the app went to the background.
    func ended() -> Bool? {
        defer { phase = .empty }
        return isTyping ? false : nil
    }

    func deadlinePassed(at now: ContinuousClock.Instant) -> Bool? {
        guard let deadline, now >= deadline else { return nil }
        switch phase {
        case .empty, .paused:
            return nil
        case .filling:
            return signal(at: now)
        case .typing:
            guard now >= edited + settings.inactivity else { return signal(at: now) }
            phase = .paused
            return false
        }
    }

    /// Handles a new connection, whose worker knows nothing of this field yet.
    func connected(at now: ContinuousClock.Instant) -> Bool? {
        isTyping ? signal(at: now) : nil
    }

    /// Learns after how long without a signal the worker ends typing. A renewal must arrive one second before that.
    func expiryLearnt(_ expiry: Duration) {
        throttle = min(settings.throttle, max(.milliseconds(100), expiry - .seconds(1)))
    }

    private func signal(at now: ContinuousClock.Instant) -> Bool {
        phase = .typing(signalled: now)
        return true
    }
}

// The user's own typing. While there is no connection, signals are dropped, and the fields keep their state.
extension Engine {
    var fields: [TypingField] { rooms.fields }

    func fieldAppeared(_ field: TypingField) {
        guard !isClosed else { return }
        let room = rooms.open(field.conversation)
        if !room.fields.contains(where: { $0 === field }) { room.fields.append(field) }
        field.expiryLearnt(typingExpiry)
        rooms.want(room)
    }

    /// A field that is not shown, and an app in the background, do not type, whatever the program does with the text.
    func fieldEdited(_ field: TypingField, filled: Bool, kind: TypingKind) {
        let isShown = rooms[field.conversation]?.fields.contains { $0 === field } ?? false
        guard !isClosed, isShown, deviceState != .background else { return }
        attention.edited(at: now)
        signalled(field, field.edited(filled: filled, kind: kind, at: now))
        changed()
    }

    func fieldEnded(_ field: TypingField) {
        signalled(field, field.ended())
    }

    func fieldDisappeared(_ field: TypingField) {
        fieldEnded(field)
        guard let room = rooms[field.conversation] else { return }
        room.fields.removeAll { $0 === field }
        rooms.want(room)
    }

    /// Ends the field's typing. Calls `done` with true once that is published, or with false if it may not be.
    func fieldEnded(_ field: TypingField, within limit: Duration, _ done: @escaping (Bool) -> Void) {
        fieldEnded(field)
        if rooms[field.conversation]?.typedIn != nil { return done(true) }
        guard connection.isOpen else { return done(false) }
        // The worker was never asked for this conversation, so no other user sees typing.
        guard outbox.conversations.way(of: field.conversation) != nil else { return done(true) }
        let stop = Stop(deadline: now + limit, done: done)
        stops.append(stop)
        outbox.signalled(false, in: field.conversation, stop: stop)
        changed()
    }

    func end(_ stop: Stop, published: Bool) {
        guard let index = stops.firstIndex(where: { $0 === stop }) else { return }
        stops.remove(at: index)
        stop.done(published)
    }

    /// Ends the calls that wait for a stop, because the connection ended. The worker then ends the typing without it.
    func endStops() {
        for stop in stops { end(stop, published: false) }
    }

    func endTyping() {
        for field in fields { fieldEnded(field) }
    }

    /// A conversation may have several fields (two windows of an app): the user types there while any is typed in, and does
    /// what the one edited last says.
    func signalled(_ field: TypingField, _ signal: Bool?) {
        guard let signal, connection.isOpen else { return }
        let typedIn = rooms[field.conversation]?.typedIn
        if !signal, typedIn != nil { return }
        outbox.signalled(signal, kind: typedIn?.kind ?? .typing, in: field.conversation)
        changed()
    }
}
