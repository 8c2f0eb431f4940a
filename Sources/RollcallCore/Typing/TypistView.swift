// What each typist sees of the other typists. Users do not see themselves, and messages name only a limited number of
// typists. To users beyond that number, all messages look the same, so a large room needs few different messages.

internal import RollcallProtocol

/// A user who types or did type, and how a change of the typists looks to them.
struct TypistView {
    /// Two users with equal looks get the same message. Holds the user's position among the named typists before and
    /// after the change.
    struct Look: Hashable {
        fileprivate var before: Int?
        fileprivate var now: Int?
    }

    let user: UserID
    private(set) var look: Look

    /// Returns the views of all users, sorted by user.
    ///
    /// - Parameter names: the most users named in a message; all later positions count as equal.
    static func all(before: [Typist], now: [Typist], names: Int) -> [TypistView] {
        var views: [TypistView] = []
        views.reserveCapacity(before.count + now.count)
        for (place, typist) in before.enumerated() {
            views.append(TypistView(user: typist.user, look: Look(before: min(place, names))))
        }
        for (place, typist) in now.enumerated() {
            views.append(TypistView(user: typist.user, look: Look(now: min(place, names))))
        }
        views.sort { $0.user < $1.user }
        return views.reduce(into: []) { merged, view in
            guard let last = merged.last, last.user == view.user else { return merged.append(view) }
            merged[merged.count - 1].look = Look(
                before: last.look.before ?? view.look.before, now: last.look.now ?? view.look.now)
        }
    }
}
