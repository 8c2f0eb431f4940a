// A screen reader announces typing when the set of users changes, and not for every change of dots, names or order.

/// Decides when to announce who is typing.
public struct TypingAnnouncer: Sendable {
    private let text: TypingText
    private var told: Set<UserID> = []
    private var toldCount = 0

    public init(_ text: TypingText = .english) {
        self.text = text
    }

    /// - Returns: what to announce if the typing users have changed since the last call, or else `nil`. Empty if no
    ///   user is typing any more.
    public mutating func announcement(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String? {
        let users = Set(typing.typists.map(\.user))
        guard users != told || typing.count != toldCount else { return nil }
        (told, toldCount) = (users, typing.count)
        return text.label(for: typing, name: name)
    }
}
