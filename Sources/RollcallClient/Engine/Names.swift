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
    /// The newest call for each user that has not returned. The answers to older ones are ignored.
    private var calls: [UserID: Int] = [:]
    private var lastCall = 0

    /// - Parameters:
    ///   - shown: returns the users whose names are shown.
    ///   - arrived: called when the app has answered for a user.
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
    var isAsking: Bool { !calls.isEmpty }

    func isAsked(for user: UserID) -> Bool { calls[user] != nil }

    /// Returns the app's name if it is known.
    func name(of user: UserID) -> String? {
        if let resolve, known[user] == nil { ask(resolve, user) }
        return known[user] ?? nil
    }

    /// Asks again for the users who are shown, whose names stay until the answer. All others are asked for when they are shown.
    func changed() {
        guard let resolve else { return }
        let shown = shown()
        known = known.filter { shown.contains($0.key) }
        for user in known.keys { ask(resolve, user) }
    }

    func close() {
        resolve = nil
    }

    private func ask(_ resolve: @escaping @Sendable (UserID) async -> String?, _ user: UserID) {
        if known.count >= limit { dropHidden() }
        if known[user] == nil { known[user] = .some(nil) }
        lastCall += 1
        let call = lastCall
        calls[user] = call
        Task {
            let name = await resolve(user)
            environment.run { self.answered(user, name, to: call) }
        }
    }

    private func answered(_ user: UserID, _ name: String?, to call: Int) {
        guard calls[user] == call else { return }
        calls[user] = nil
        guard resolve != nil else { return }
        known[user] = .some(name)
        arrived(user)
    }

    /// The limit is then twice what is left, so that this costs little per name.
    private func dropHidden() {
        let shown = shown()
        known = known.filter { shown.contains($0.key) }
        limit = max(Self.most, 2 * known.count)
    }
}
