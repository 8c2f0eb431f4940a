// The members of a conversation, for sessions that joined it with presence: a snapshot plus the changes received around
// it.

internal import RollcallProtocol

/// The members of a conversation and their names, once read. In a conversation with more members than may be shown,
/// only some are known by name; of the others, only the number is known.
struct MemberSet: Hashable, Sendable {
    /// `nil` before the first read; empty if the conversation has no member list.
    private(set) var names: [UserID: ByteString]?
    /// The number of members, including those not known by name.
    private(set) var count = 0
    private var most = 0
    private var readsUnderWay = 0
    /// The last change of each user received during a read, which may be older than the change. The value is the
    /// member's name; `nil` for a removed member.
    private var changesMeanwhile: [UserID: ByteString?] = [:]
    private var countMeanwhile: Int?

    mutating func readBegan() {
        readsUnderWay += 1
    }

    /// Discards the members, because no session watches them and changes may be missed. The next session that watches
    /// reads them.
    mutating func forget() {
        names = nil
    }

    mutating func readFailed() {
        readEnded()
    }

    /// - Parameters:
    ///   - members: all members, or some of them if there are more than `most`.
    ///   - count: the number of members.
    mutating func snapshotRead(_ members: [UserID: ByteString], count: Int, most: Int) {
        (names, self.count, self.most) = (members, count, most)
        for (user, name) in changesMeanwhile.sorted(by: { $0.key < $1.key }) {
            apply(user, name, count: countMeanwhile)
        }
        readEnded()
    }

    /// Applies a member change: added, renamed, or, if `name` is `nil`, removed.
    ///
    /// - Parameter count: the number of members after the change; `nil` if the sender did not include it.
    mutating func changed(_ user: UserID, to name: ByteString?, count: Int?) {
        if readsUnderWay > 0 {
            changesMeanwhile[user] = .some(name)
            countMeanwhile = count ?? countMeanwhile
        }
        apply(user, name, count: count)
    }

    /// Whether more members should be read: if not all are known although `most` would allow it, or if a quarter of
    /// `most` names are missing. Without this margin, each removal from a large list would cause a read.
    func hasFew(of most: Int) -> Bool {
        guard let names, readsUnderWay == 0, names.count < count else { return false }
        return count <= most || names.count < most - most / 4
    }

    private mutating func apply(_ user: UserID, _ name: ByteString?, count told: Int?) {
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
        changesMeanwhile = [:]
        countMeanwhile = nil
    }
}
