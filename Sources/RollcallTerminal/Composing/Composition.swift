// `rollcall type` as a value: what stands in the field, what the others do, and what follows from a key.

package import RollcallClient

/// Someone composing in a conversation.
package struct Composition: Sendable {
    /// What is to be done outside.
    package enum Effect: Hashable, Sendable {
        case nothing
        /// The field has another text.
        case edited(String)
        /// The text goes out, and the field is empty.
        case sent
        case leaves
        /// The terminal may show anything: draw all of it.
        case redraws
    }

    package let conversation: ConversationID
    package private(set) var field = LineEditor()
    package private(set) var typing: Typing
    package private(set) var connection = ConnectionState.idle
    /// The text that was sent last.
    package private(set) var sent: String?
    /// What this device does other than to type, such as to be in the background.
    package private(set) var aside: String?

    package init(in conversation: ConversationID) {
        self.conversation = conversation
        typing = Typing(conversation: conversation)
    }

    package mutating func pressed(_ key: Key) -> Effect {
        switch key {
        case .leave: return .leaves
        case .redraw: return .redraws
        case .enter:
            // White space alone is not typing, nor is it anything to send.
            guard !field.text.allSatisfy(\.isWhitespace) else { return .nothing }
            sent = field.text
            field.pressed(.enter)
            return .sent
        case .text, .paste, .backspace, .delete, .deleteWord, .deleteToEnd, .clear, .left, .right, .wordLeft,
            .wordRight,
            .home, .end:
            return field.pressed(key) ? .edited(field.text) : .nothing
        }
    }

    package mutating func changed(_ change: Change) {
        switch change {
        case .connection(let state): connection = state
        case .typing(let typing): self.typing = typing
        case .members, .presence: break
        }
    }

    /// A script did something that is no key.
    package mutating func did(_ deed: Act.Deed) {
        switch deed {
        case .background: aside = "in the background"
        case .idle: aside = "idle"
        case .leave: aside = "has left"
        case .foreground, .enter: aside = nil
        case .press, .nothing: break
        }
    }
}
