// The app's names for people, from ``ClientOptions/names``.

/// Asks the app once for each user who is shown, and shows the answer whenever it comes. Used on the client's queue only.
final class Names: @unchecked Sendable {
    /// With more names than this, those that are not shown are dropped, and asked for again when needed.
    private static let most = 4096

    private var resolve: (@Sendable (UserID) async -> String?)?
    private let environment: Environment
    private let shown: () -> Set<UserID>
    private let arrived: (UserID) -> Void
    /// The answers; `nil` for a user whom the app does not know, or not yet.
    private var known: [UserID: String?] = [:]
    private var limit = most
    private var calls = 0

    /// - Parameters:
    ///   - shown: returns the users whose names are shown.
    ///   - arrived: called when a user's name has come.
    init(
        _ resolve: (@Sendable (UserID) async -> String?)?, in environment: Environment,
        shown: @escaping () -> Set<UserID>,
        arrived: @escaping (UserID) -> Void
    ) {
        self.resolve = resolve
        self.environment = environment
        self.shown = shown
        self.arrived = arrived
    }

    /// Whether a call has not returned.
    var isAsking: Bool { calls > 0 }

    /// Returns the app's name if it is known.
    func name(of user: UserID) -> String? {
        if let resolve, known[user] == nil { ask(resolve, user) }
        return known[user] ?? nil
    }

    /// Forgets the users whom the app did not know, and returns them: they are asked for when they are shown again.
    func changed() -> [UserID] {
        let unknown = known.compactMap { $0.value == nil ? $0.key : nil }
        for user in unknown { known[user] = nil }
        return unknown
    }

    func close() {
        resolve = nil
    }

    private func ask(_ resolve: @escaping @Sendable (UserID) async -> String?, _ user: UserID) {
        if known.count >= limit { dropHidden() }
        known[user] = .some(nil)
        calls += 1
        Task {
            let name = await resolve(user)
            environment.run { self.answered(user, name) }
        }
    }

    private func answered(_ user: UserID, _ name: String?) {
        calls -= 1
        guard resolve != nil, let name else { return }
        known[user] = name
        arrived(user)
    }

    /// The limit is then twice what is left, so that this costs little per name.
    private func dropHidden() {
        let shown = shown()
        known = known.filter { shown.contains($0.key) }
        limit = max(Self.most, 2 * known.count)
    }
}
