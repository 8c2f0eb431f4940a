// Who of those who type sees what of the others. Nobody sees themselves; but only so many are named, and to those who
// would not be named anyway, all looks the same. So a large room needs few messages, however many type in it.

internal import RollcallModel

/// The views of a change of a set of typists, for each of its own users.
struct TypistViews {
    /// Two users with the same view are told the same.
    struct View: Hashable {
        fileprivate let before: Int?
        fileprivate let now: Int?
    }

    /// All who type, or did.
    let users: [UserID]
    private let before: [UserID: Int]
    private let now: [UserID: Int]

    /// - Parameter names: how many are named at most.
    init(before: [Typist], now: [Typist], names: Int) {
        self.before = Self.places(before, names)
        self.now = Self.places(now, names)
        users = Set(self.before.keys).union(self.now.keys).sorted()
    }

    subscript(user: UserID) -> View {
        View(before: before[user], now: now[user])
    }

    /// Where each stands; behind those who are named, it does not matter where.
    private static func places(_ typists: [Typist], _ names: Int) -> [UserID: Int] {
        Dictionary(zip(typists.map(\.user), typists.indices.map { min($0, names) })) { first, _ in first }
    }
}
