// A conversation's members as a room knows them whose sessions watch them: a read, and what is heard around it.

internal import RollcallModel

/// The members of a conversation and their names, once they have been read.
struct MemberSet: Hashable, Sendable {
    /// `nil` before the first read; empty where the conversation has no members set.
    private(set) var names: [UserID: String]?
    private var readsUnderWay = 0
    /// Changes heard while a read was under way, which may be older: the last one of each user counts. The value is
    /// their name, or `nil` if they are no member any more.
    private var heard: [UserID: String?] = [:]

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

    mutating func snapshotRead(_ members: [UserID: String]) {
        names = members
        for (user, name) in heard { names?[user] = name }
        readEnded()
    }

    /// A member came, changed name or, if `name` is `nil`, went.
    mutating func changed(_ user: UserID, to name: String?) {
        if readsUnderWay > 0 { heard[user] = .some(name) }
        names?[user] = name
    }

    private mutating func readEnded() {
        readsUnderWay -= 1
        if readsUnderWay == 0 { heard = [:] }
    }
}
