// Both sides of typing in one conversation, as a view shows them: the others' line, and one's own field.

public import Observation

/// Who types in a conversation, and one's own draft there, for a view to observe.
///
///     Text(chat.text)                                   // "Alice and Bob are typing…"
///     TextField("Message", text: $chat.draft)           // each edit is seen by the others as typing
///     Button("Send") { chat.sends(); send(message) }
///
/// It ends, and with it one's own typing, when it is let go.
@MainActor @Observable
public final class TypingModel {
    public let conversation: ConversationID
    public private(set) var typing: Typing
    /// The line to show; empty when nobody types.
    public private(set) var text = ""
    /// The same for a screen reader, without dots.
    public private(set) var label = ""
    /// What a screen reader should announce: changes only when others type than before.
    public private(set) var announcement = ""
    /// The whole text of one's own field, to be bound to it. White space alone is not typing.
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

    /// The draft is about to be sent: one's typing ends now, and the draft is empty.
    public func sends() {
        input.send()
        draft = ""
    }

    /// ``sends()``, and waits until nobody can see the typing outlive the message; two seconds at most. The draft is
    /// empty from the start: what is written meanwhile is the next message's.
    public func sendsConfirmed() async {
        draft = ""
        await input.sendConfirmed()
    }

    /// The view is shown (again). A new model counts as shown.
    public func appeared() { input.appeared() }

    /// The view is left while the model stays: one's own typing ends.
    public func disappeared() { input.disappeared() }

    private func changed(_ typing: Typing) {
        self.typing = typing
        text = words.text(for: typing)
        label = words.label(for: typing)
        if let news = announcer.announcement(for: typing) { announcement = news }
    }
}
