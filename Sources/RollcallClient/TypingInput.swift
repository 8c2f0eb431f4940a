// The user's own typing: the app passes the text of its input field after each edit; debounce, renewal and end follow.

/// One input field of one conversation. Releasing it ends the typing.
///
/// All methods may be called on any thread, in the order of the events. Only ``sendConfirmed(within:)`` waits.
///
///     let input = rollcall.typingInput(in: "c42")
///     input.edited(field.text)     // on each edit
///     input.send()                 // before the message is sent
public final class TypingInput: Sendable {
    public let conversation: ConversationID
    private let client: RollcallClient
    private let field: TypingField

    init(in conversation: ConversationID, of client: RollcallClient) {
        self.conversation = conversation
        self.client = client
        field = TypingField(in: conversation, settings: client.options.typing)
        appeared()
    }

    deinit {
        client.engine.run { [field] in $0.fieldDisappeared(field) }
    }

    /// Reports the field's whole text after its user edited it. The client does not keep the text. White space and
    /// invisible characters alone do not count as typing.
    public func edited(_ text: String) {
        guard text.isVisible else { return stopTyping() }
        client.engine.run { [field] in $0.fieldEdited(field, filled: true, kind: .typing) }
    }

    /// Reports the field's whole text after the program changed it: a draft that is put back, or text that is pasted for the
    /// user. That does not count as typing; but if nothing is left, the typing ends.
    public func restored(_ text: String) {
        if !text.isVisible { send() }
    }

    /// Reports that the user does something that is no edit of a text but counts as typing, such as to speak into the
    /// microphone. It counts like an edit, so repeat it while it lasts, at least once per
    /// ``TypingSettings/inactivity``, or until ``stopTyping()``.
    ///
    /// - Parameter kind: what others are told that the user does. It counts until the next edit or call.
    public func keepTyping(_ kind: TypingKind = .typing) {
        client.engine.run { [field] in $0.fieldEdited(field, filled: true, kind: kind) }
    }

    /// Ends what ``keepTyping(_:)`` began, like an edit that leaves no text.
    public func stopTyping() {
        client.engine.run { [field] in $0.fieldEdited(field, filled: false, kind: .typing) }
    }

    /// Ends the typing. Call it right before you send the text.
    public func send() {
        client.engine.run { [field] in $0.fieldEnded(field) }
    }

    /// Ends the typing like ``send()``, and waits until the worker has published the end, so that other users do not
    /// see typing after the message.
    ///
    /// - Returns: false if the worker did not confirm it within `limit`, or if the client is disconnected. The typing
    ///   ends in either case, and the app should send its message.
    @discardableResult
    public nonisolated(nonsending) func sendConfirmed(within limit: Duration = .seconds(2)) async -> Bool {
        await client.engine.answer { confirmed in
            client.engine.run { [field] in $0.fieldEnded(field, within: limit, confirmed) }
        }
    }

    /// Reports that the field's view is shown again. A new input counts as shown.
    public func appeared() {
        client.engine.run { [field] in $0.fieldAppeared(field) }
    }

    /// Reports that the field's view is no longer shown: the typing ends now, the conversation is left unless something else
    /// needs it, and edits count for nothing until ``appeared()``. In the background, too, nothing counts as typing.
    public func disappeared() {
        client.engine.run { [field] in $0.fieldDisappeared(field) }
    }
}

extension String {
    /// Whether something of it can be seen.
    fileprivate var isVisible: Bool {
        unicodeScalars.contains { !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint }
    }
}
