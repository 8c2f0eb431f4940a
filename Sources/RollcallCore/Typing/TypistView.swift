// Who of those who type sees what of the others. Nobody sees themselves; but only so many are named, and to those who
// would not be named anyway, all looks the same. So a large room needs few messages, however many type in it.

internal import RollcallModel

/// One who types, or did, and how a change of the set of typists looks to them.
struct TypistView {
    /// Two users to whom it looks the same are told the same: where each stood, and stands, among those who are named.
    struct Look: Hashable {
        fileprivate var before: Int?
        fileprivate var now: Int?
    }

    let user: UserID
    private(set) var look: Look

    /// The views of all of them, by user.
    ///
    /// - Parameter names: how many are named at most; behind these, it does not matter where one stands.
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
