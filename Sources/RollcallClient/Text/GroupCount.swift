// How many of a group are here.

/// `3 of 5 online`.
public struct GroupCount: Hashable, Sendable, CustomStringConvertible {
    public let online: Int
    public let total: Int

    /// - Parameters:
    ///   - presences: those known; who is away is here too, but not online.
    ///   - total: the size of the group, those of unknown presence among it.
    public init(of presences: some Sequence<Presence>, total: Int) {
        online = presences.count { $0.status == .online }
        self.total = total
    }

    /// The line in a language.
    public func text(in language: Language) -> String {
        language.words.presence.group[language.plural.category(of: online)]
            .filled("online", with: String(online)).filled("total", with: String(total))
    }

    /// The line in English.
    public var description: String { text(in: .english) }
}
