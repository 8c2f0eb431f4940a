// Typing in one conversation for views: the line about other users, and the user's own field.

public import Observation

/// Who is typing in a conversation, and the user's own draft there, for a view to observe.
///
///     Text(chat.text)                                   // "Alice and Bob are typing…"
///     TextField("Message", text: $chat.draft)           // each edit is seen by the others as typing
///     Button("Send") { chat.sends(); send(message) }
///
/// Updated on the main actor, until the model is released. Then the user's own typing ends too.
@MainActor @Observable
public final class TypingModel {
    public let conversation: ConversationID
    public private(set) var typing: Typing
    /// The line to show; empty if no other user is typing.
    public private(set) var text = ""
    /// The line for a screen reader, without dots.
    public private(set) var label = ""
    /// What a screen reader should announce. Changes only when the set of typing users changes.
    public private(set) var announcement = ""
    /// The text of the user's own field, to bind the field to. White space alone does not count as typing.
    public var draft = "" {
        didSet { if draft != oldValue { input.edited(draft) } }
    }

    @ObservationIgnored private let input: TypingInput
    @ObservationIgnored private let words: TypingText
    @ObservationIgnored private var announcer: TypingAnnouncer
    @ObservationIgnored private var changes: Following?

    public init(in conversation: ConversationID, from client: RollcallClient, text words: TypingText = .english) {
        self.conversation = conversation
        self.words = words
        typing = Typing(conversation: conversation)
        input = client.typingInput(in: conversation)
        announcer = TypingAnnouncer(words)
        changes = client.typing(in: conversation).follow(for: self) { $0.changed($1) }
    }

    /// Ends the user's typing and clears the draft. Read the draft before, then send it.
    public func sends() {
        input.send()
        draft = ""
    }

    /// Does the same as ``sends()``, and waits until the end of the typing is published, so that other users do not see
    /// typing after the message; two seconds at most. The draft is cleared at once, and text entered while this waits
    /// belongs to the next message.
    public func sendsConfirmed() async {
        draft = ""
        await input.sendConfirmed()
    }

    /// Reports that the view is shown again. A new model counts as shown.
    public func appeared() { input.appeared() }

    /// Reports that the view is no longer shown although the model stays: the user's own typing ends.
    public func disappeared() { input.disappeared() }

    private func changed(_ typing: Typing) {
        self.typing = typing
        text = words.text(for: typing)
        label = words.label(for: typing)
        if let news = announcer.announcement(for: typing) { announcement = news }
    }
}
