// Set members in Redis that consist of several words. Names contain no spaces.

extension SessionName {
    /// The member of `worker:{INCARNATION}:sessions`: `USER DEVICE SESSION`.
    package var memberText: String { "\(user) \(device) \(session)" }

    /// - Returns: `nil` if the member does not name a session.
    package init?(member: ByteString) {
        guard case .session(let name) = ListItem(member: member) else { return nil }
        self = name
    }
}

extension EntryName {
    /// The member of `worker:{INCARNATION}:here`: `USER DEVICE RANDOM CONVERSATION`.
    package var memberText: String { "\(session.memberText) \(conversation)" }
}

extension ListItem {
    package var session: SessionName {
        switch self {
        case .session(let session): session
        case .entry(let entry): entry.session
        }
    }

    package var memberText: String {
        switch self {
        case .session(let session): session.memberText
        case .entry(let entry): entry.memberText
        }
    }

    /// - Returns: `nil` if the member names neither a session nor an entry.
    package init?(member: ByteString) {
        let words = member.parts(at: " ")
        guard words.count >= 3, let user = try? UserID(words[0]), let device = DeviceID(written: words[1]),
            !words[2].isEmpty
        else { return nil }
        let session = SessionName(user: user, device: device, session: SessionID(random: words[2]))
        switch words.count {
        case 3: self = .session(session)
        case 4:
            guard let conversation = try? ConversationID(words[3]) else { return nil }
            self = .entry(EntryName(session: session, conversation: conversation))
        default: return nil
        }
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
