// What a user can do at the keyboard, independent of the bytes that the terminal sends for it.

/// A key, or pasted text.
package enum Key: Hashable, Sendable {
    /// A character, or part of one: a combining mark follows its letter.
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
