// A conversation's members as a room knows them whose sessions watch them: a read, and what is heard around it.

internal import RollcallModel

/// The members of a conversation and their names, once they have been read. Of a conversation with more than may be
/// shown, so many are known by name, and of the others how many they are.
struct MemberSet: Hashable, Sendable {
    /// `nil` before the first read; empty where the conversation has no members set.
    private(set) var names: [UserID: String]?
    /// How many members there are, those included who are not known by name.
    private(set) var count = 0
    private var most = 0
    private var readsUnderWay = 0
    /// Changes heard while a read was under way, which may be older: the last one of each user counts. The value is
    /// their name, or `nil` if they are no member any more.
    private var heard: [UserID: String?] = [:]
    private var heardCount: Int?

    mutating func readBegan() {
        readsUnderWay += 1
    }

    /// Nobody watches the members any more, so that changes may be missed: the next who does reads them.
    mutating func forget() {
        names = nil
    }

    mutating func readFailed() {
        readEnded()
    }

    /// - Parameters:
    ///   - members: all of them, or if there are more than `most`, some.
    ///   - count: how many there are.
    mutating func snapshotRead(_ members: [UserID: String], count: Int, most: Int) {
        (names, self.count, self.most) = (members, count, most)
        for (user, name) in heard.sorted(by: { $0.key < $1.key }) { apply(user, name, count: heardCount) }
        readEnded()
    }

    /// A member came, changed name or, if `name` is `nil`, went.
    ///
    /// - Parameter count: how many there are since; `nil` if who told did not say.
    mutating func changed(_ user: UserID, to name: String?, count: Int?) {
        if readsUnderWay > 0 {
            heard[user] = .some(name)
            heardCount = count ?? heardCount
        }
        apply(user, name, count: count)
    }

    /// Whether so few are known by name that more are to be read: all where they may all be known, and else enough that a
    /// list which loses one after the other is not read again for each.
    func hasFew(of most: Int) -> Bool {
        guard let names, readsUnderWay == 0, names.count < count else { return false }
        return count <= most || names.count < most - most / 4
    }

    private mutating func apply(_ user: UserID, _ name: String?, count told: Int?) {
        guard let known = names?.count else { return }
        let areAllKnown = known == count
        let hasRoom = known < most || names?[user] != nil
        if name == nil || hasRoom { names?[user] = name }
        if areAllKnown {
            count = hasRoom || name == nil ? names?.count ?? 0 : count + 1
        } else {
            count = told ?? count
        }
    }

    private mutating func readEnded() {
        readsUnderWay -= 1
        guard readsUnderWay == 0 else { return }
        heard = [:]
        heardCount = nil
    }
}
