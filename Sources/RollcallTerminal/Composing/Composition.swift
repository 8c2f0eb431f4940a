// The state of `rollcall type` as a value: the field, what other users do, and what a key causes.

package import RollcallClient

/// A user who is composing a message in a conversation.
package struct Composition: Sendable {
    /// What the caller must do.
    package enum Effect: Hashable, Sendable {
        case nothing
        /// The text of the field changed.
        case edited(String)
        /// The text was sent, and the field is empty.
        case sent
        case leaves
        /// The terminal's content is unknown: draw everything again.
        case redraws
    }

    package let conversation: ConversationID
    package private(set) var field = LineEditor()
    package private(set) var typing: Typing
    package private(set) var connection = ConnectionState.idle
    /// The last text that was sent.
    package private(set) var sent: String?
    /// A state of this device other than typing, such as the background.
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
            // White space alone is not typing, and is not sent.
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

    /// Handles something that a script did other than press a key.
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
