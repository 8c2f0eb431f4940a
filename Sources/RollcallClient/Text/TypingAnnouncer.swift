// A screen reader is told when the set of typists changes, and not on every dot, name or reordering.

/// Decides when to announce who is typing.
public struct TypingAnnouncer: Sendable {
    private let text: TypingText
    private var told: Set<UserID> = []
    private var toldCount = 0

    public init(_ text: TypingText = .english) {
        self.text = text
    }

    /// - Returns: what to announce, if those who type are others than at the last call; empty when nobody is left.
    public mutating func announcement(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String? {
        let users = Set(typing.typists.map(\.user))
        guard users != told || typing.count != toldCount else { return nil }
        (told, toldCount) = (users, typing.count)
        return text.label(for: typing, name: name)
    }
}
