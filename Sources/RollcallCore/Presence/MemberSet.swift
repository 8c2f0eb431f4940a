// A conversation's members as a room knows them whose sessions watch them: a read, and what is heard around it.

internal import RollcallModel

/// The members of a conversation, once they have been read.
struct MemberSet: Hashable, Sendable {
    /// `nil` before the first read; empty where the conversation has no members set.
    private(set) var users: Set<UserID>?
    private var readsUnderWay = 0
    /// Changes heard while a read was under way, which may be older: the last one of each user counts.
    private var heard: [UserID: Bool] = [:]

    mutating func readBegan() {
        readsUnderWay += 1
    }

    /// Nobody watches the members any more, so that changes may be missed: the next who does reads them.
    mutating func forget() {
        users = nil
    }

    mutating func readFailed() {
        readEnded()
    }

    mutating func snapshotRead(_ members: Set<UserID>) {
        users = members
        for (user, isMember) in heard { set(user, isMember: isMember) }
        readEnded()
    }

    /// A member came or went.
    ///
    /// - Returns: whether that was news.
    mutating func changed(_ user: UserID, isMember: Bool) -> Bool {
        if readsUnderWay > 0 { heard[user] = isMember }
        guard let users, users.contains(user) != isMember else { return false }
        set(user, isMember: isMember)
        return true
    }

    private mutating func set(_ user: UserID, isMember: Bool) {
        if isMember { users?.insert(user) } else { users?.remove(user) }
    }

    private mutating func readEnded() {
        readsUnderWay -= 1
        if readsUnderWay == 0 { heard = [:] }
    }
}
