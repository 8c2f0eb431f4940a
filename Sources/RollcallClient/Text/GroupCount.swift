// The number of group members who are online.

/// How many users of a group are online: `3 of 5 online`.
public struct GroupCount: Hashable, Sendable, CustomStringConvertible {
    public let online: Int
    public let total: Int

    /// - Parameters:
    ///   - presences: the known presences. Only users with the status `online` count.
    ///   - total: the size of the group, including users whose presence is unknown.
    public init(of presences: some Sequence<Presence>, total: Int) {
        online = presences.count { $0.status == .online }
        self.total = total
    }

    /// The text in a language.
    public func text(in language: Language) -> String {
        language.words.presence.group[language.plural.category(of: online)]
            .filled("online", with: String(online)).filled("total", with: String(total))
    }

    /// The text in English.
    public var description: String { text(in: .english) }
}
