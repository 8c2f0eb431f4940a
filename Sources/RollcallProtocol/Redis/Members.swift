// Set members in Redis that consist of several words. Names contain no spaces.

extension SessionName {
    /// The member of `worker:{INCARNATION}:sessions`: `USER DEVICE SESSION`.
    package var memberText: String { "\(user) \(device) \(session)" }

    /// - Returns: `nil` if the member does not name a session.
    package init?(member: ByteString) {
        let words = member.parts(at: " ")
        guard words.count == 3, !words[2].isEmpty, let user = try? UserID(words[0]),
            let device = try? DeviceID(words[1])
        else { return nil }
        self.init(user: user, device: device, session: SessionID(random: words[2]))
    }
}

extension RoomSnapshot {
    /// A member of `typing:{CONVERSATION}`, `USER DEVICE`, with its score, the user's display name and the kind.
    package typealias TypingMember = (member: ByteString, expiry: Timestamp, name: ByteString?, kind: TypingKind)

    /// Returns each user once, sorted by id, with the latest expiry of the user's devices. Ignores members that
    /// Rollcall did not write.
    package static func typists(_ members: some Sequence<TypingMember>) -> [Entry] {
        var typists: [UserID: Entry] = [:]
        for (member, expiry, name, kind) in members {
            guard let word = member.cut(at: " ")?.before, let user = try? UserID(word) else { continue }
            if let known = typists[user], known.expiry >= expiry { continue }
            typists[user] = Entry(
                user: user, expiry: expiry, name: name.flatMap { $0.isEmpty ? nil : $0 }, kind: kind)
        }
        return typists.values.sorted { $0.user < $1.user }
    }
}
