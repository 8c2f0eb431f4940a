// The user's own typing, from the fields to the worker. While there is no connection, signals are dropped. The fields
// keep deciding, and a new connection receives their current state.

extension Engine {
    func fieldAppeared(_ id: FieldID, in conversation: ConversationID) {
        guard !isClosed else { return }
        if let field = fields[id] {
            field.isPresent = true
        } else {
            fields[id] = InputField(
                conversation, settings: options.typing, expiry: typingExpiry, on: loop, by: clock
            ) { [unowned self] in signalled($0, in: conversation) }
        }
        _ = room(conversation)
    }

    func fieldEdited(_ id: FieldID, filled: Bool) {
        guard let field = fields[id] else { return }
        if filled, !field.isPresent { fieldAppeared(id, in: field.conversation) }
        edited()
        field.edited(filled: filled)
    }

    func fieldEnded(_ id: FieldID) {
        fields[id]?.ended()
    }

    func fieldDisappeared(_ id: FieldID) {
        guard let field = fields[id] else { return }
        field.ended()
        field.isPresent = false
        releaseRoom(field.conversation)
    }

    func fieldGone(_ id: FieldID) {
        fieldDisappeared(id)
        fields[id] = nil
    }

    func endFields() {
        for (_, field) in fields.sorted(by: { $0.key < $1.key }) { field.ended() }
    }

    /// Ends the field's typing. Calls `done` with true once that is published, or with false if it may not be.
    func fieldEnded(_ id: FieldID, stop: StopID, within limit: Duration, done: @escaping (Bool) -> Void) {
        guard let field = fields[id] else { return done(true) }
        field.ended()
        if isTyping(in: field.conversation) { return done(true) }
        guard connector.isOpen else { return done(false) }
        // The worker was never asked for this conversation, so no other user sees typing.
        guard agenda.conversations.wasTold(field.conversation) else { return done(true) }
        let alarm = Alarm(on: loop, by: clock) { [weak self] in self?.endStop(stop, published: false) }
        alarm.set(clock.now + limit)
        stops[stop] = { published in
            alarm.set(nil)
            done(published)
        }
        agenda.signalled(false, in: field.conversation, awaited: stop)
        changed()
    }

    private func signalled(_ signal: TypingField.Signal, in conversation: ConversationID) {
        guard connector.isOpen else { return }
        switch signal {
        case .typing: agenda.signalled(true, in: conversation)
        case .stopped where isTyping(in: conversation): return
        case .stopped: agenda.signalled(false, in: conversation)
        }
        changed()
    }

    private func isTyping(in conversation: ConversationID) -> Bool {
        fields.values.contains { $0.conversation == conversation && $0.field.isTyping }
    }
}
