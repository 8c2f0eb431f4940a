// One's own typing: the app hands over what stands in its input field, and the rest follows.

/// One input field of one conversation. Letting go of it ends the typing.
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

    /// The field's whole text after an edit. Returns at once; nothing of the text is kept.
    public func edited(_ text: String) {
        let filled = !text.allSatisfy(\.isWhitespace)
        client.engine.run { [id] in $0.fieldEdited(id, filled: filled) }
    }

    /// The text is about to be sent: the typing ends now.
    public func send() {
        client.engine.run { [id] in $0.fieldEnded(id) }
    }

    /// ``send()``, and waits until the end of the typing is published, so that no observer sees it outlive the message.
    ///
    /// - Returns: false if that could not be made sure of within `limit`, for want of a connection perhaps; the typing
    ///   ends all the same. An app sends its message in either case.
    @discardableResult
    public nonisolated(nonsending) func sendConfirmed(within limit: Duration = .seconds(2)) async -> Bool {
        let stop = StopID()
        return await withCheckedContinuation { confirmed in
            client.engine.run { [id] in
                $0.fieldEnded(id, stop: stop, within: limit) { confirmed.resume(returning: $0) }
            }
        }
    }

    /// The field's view is shown (again). A new input counts as shown.
    public func appeared() {
        client.engine.run { [id, conversation] in $0.fieldAppeared(id, in: conversation) }
    }

    /// The field's view is left: the typing ends now, and others' is no longer received for its sake.
    public func disappeared() {
        client.engine.run { [id] in $0.fieldDisappeared(id) }
    }
}
