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
    private let id = FieldID()

    init(in conversation: ConversationID, of client: RollcallClient) {
        self.conversation = conversation
        self.client = client
        appeared()
    }

    deinit {
        client.engine.run { [id] in $0.fieldGone(id) }
    }

    /// Reports the field's whole text after an edit. The client does not keep the text, and white space alone does not
    /// count as typing.
    public func edited(_ text: String) {
        let filled = !text.allSatisfy(\.isWhitespace)
        client.engine.run { [id] in $0.fieldEdited(id, filled: filled) }
    }

    /// Ends the typing. Call it right before you send the text.
    public func send() {
        client.engine.run { [id] in $0.fieldEnded(id) }
    }

    /// Ends the typing like ``send()``, and waits until the worker has published the end, so that other users do not
    /// see typing after the message.
    ///
    /// - Returns: false if the worker did not confirm it within `limit`, or if the client is disconnected. The typing
    ///   ends in either case, and the app should send its message.
    @discardableResult
    public nonisolated(nonsending) func sendConfirmed(within limit: Duration = .seconds(2)) async -> Bool {
        let stop = StopID()
        return await withCheckedContinuation { confirmed in
            client.engine.run { [id] in
                $0.fieldEnded(id, stop: stop, within: limit) { confirmed.resume(returning: $0) }
            }
        }
    }

    /// Reports that the field's view is shown again. A new input counts as shown.
    public func appeared() {
        client.engine.run { [id, conversation] in $0.fieldAppeared(id, in: conversation) }
    }

    /// Reports that the field's view is no longer shown: the typing ends now, and the conversation is left unless
    /// something else needs it.
    public func disappeared() {
        client.engine.run { [id] in $0.fieldDisappeared(id) }
    }
}
