// What a person can do at the keyboard, whatever bytes their terminal sends for it.

/// A key, or what was pasted.
package enum Key: Hashable, Sendable {
    /// A character, or a part of one: a combining mark comes after its letter.
    case text(String)
    case paste(String)
    case enter
    case backspace
    case delete
    case deleteWord
    case deleteToEnd
    case clear
    case left
    case right
    case wordLeft
    case wordRight
    case home
    case end
    case redraw
    case leave
}
