// The scripts typing_signal, typing_stop and room: who types in a conversation.

public import RollcallProtocol

/// The key `typing:{CONVERSATION}:USER`.
package struct TypingUser: Hashable, Sendable {
    package var conversation: ConversationID
    package var user: UserID

    package init(conversation: ConversationID, user: UserID) {
        (self.conversation, self.user) = (conversation, user)
    }
}

/// A member of the sorted set `typing:{CONVERSATION}`: `USER DEVICE`.
package struct TypingDevice: Hashable, Comparable, Sendable {
    package var user: UserID
    package var device: DeviceID

    /// Redis's order of members with equal scores: no byte of a name is smaller than the space between the two.
    package static func < (left: Self, right: Self) -> Bool {
        (left.user, left.device) < (right.user, right.device)
    }
}

/// The value of `typing:{CONVERSATION}:USER`.
package struct TwinTyping: Hashable, Sendable {
    package struct Device: Hashable, Sendable {
        package var id: DeviceID
        package var kind: TypingKind
    }

    package var devices: [Device] = []
    package var name: ByteString?

    /// As scripts write it.
    package var text: String {
        devices.map { "\($0.id)" + ($0.kind.word.map { "{\($0)}" } ?? "") }.joined(separator: " ")
            + (name.map { "\t\($0)" } ?? "")
    }
}

extension TwinRedis {
    /// A device types, until the signal expires.
    public mutating func signalTyping(_ signal: TypingSignal, isOpen: Bool) -> TypingOutcome {
        guard isMember(signal.user, of: signal.conversation) ?? isOpen else { return .notAMember }
        guard time < signal.expiry else { return .late }
        let ends = min(signal.expiry, time.advanced(by: settings.typingExpiry))
        let member = TypingDevice(user: signal.user, device: signal.device)
        var set = typingSet(signal.conversation)
        // If two signals overtake each other, the later expiry counts, unless it was stored before the clock was set
        // back.
        let stored = set[member].flatMap { $0 > latestEnd ? nil : $0 }
        let isOlder = stored.map { $0 > ends || $0 == ends && signal.kind == .typing } ?? false
        set[member] = max(stored ?? ends, ends)
        let last = time.advanced(by: settings.typingExpiry)
        typingSets[signal.conversation] = Expiring(value: set, expires: last)
        var typing = typing(of: signal)
        let before = typing.devices.firstIndex { $0.id == signal.device }.map { typing.devices.remove(at: $0) }
        typing.devices.append(.init(id: signal.device, kind: isOlder ? before?.kind ?? signal.kind : signal.kind))
        typing.name = typing.name ?? signal.name
        tellTyping(signal, typing)
        return .typing
    }

    /// Ends a device's typing, unless it expires later than the stopped signal.
    public mutating func stopTyping(_ stop: TypingSignal) -> TypingStopOutcome {
        let member = TypingDevice(user: stop.user, device: stop.device)
        var set = typingSet(stop.conversation)
        if let ends = set[member], ends > stop.expiry, ends <= latestEnd { return .late }
        set[member] = nil
        change(typingSet: stop.conversation, to: set)
        tidy(stop.conversation)
        var typing = typing(of: stop)
        typing.devices.removeAll { $0.id == stop.device || planted.contains(.stopIgnoresOtherDevices) }
        tellTyping(stop, typing)
        return .stopped
    }

    /// Reads the current state of a conversation, and which of these users may join it.
    public func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int, mostHere: Int = 0
    ) -> RoomSnapshot {
        RoomSnapshot(
            time: time, isManaged: memberNames[conversation] != nil,
            admitted: Set(users.filter { isMember($0, of: conversation) == true }),
            typists: withTyping ? typists(in: conversation) : [],
            members: mostMembers > 0 ? memberNames[conversation].map { some($0, mostMembers) } : nil,
            memberCount: memberNames[conversation]?.count ?? 0,
            here: mostHere > 0 ? hereSnapshot(conversation, most: mostHere) : nil,
            access: mostHere > 0
                ? [:] : Dictionary(users.map { ($0, accessRecord(of: $0, to: conversation)) }) { first, _ in first },
            people: mostHere > 0 || users.isEmpty && mostMembers == 0 ? [] : Set(people(of: conversation)).sorted())
    }

    /// Redis's order is undefined; the twin's must be deterministic.
    private func some(_ members: [UserID: String], _ most: Int) -> [UserID: ByteString] {
        Dictionary(
            uniqueKeysWithValues: members.sorted { $0.key < $1.key }.prefix(most).map { ($0.key, ByteString($0.value)) }
        )
    }

    private func typists(in conversation: ConversationID) -> [RoomSnapshot.Entry] {
        var last: [UserID: (member: TypingDevice, end: Timestamp)] = [:]
        for (member, end) in typingSet(conversation).sorted(by: { $0.key < $1.key }) where counts(end) {
            if let known = last[member.user], known.end >= end { continue }
            last[member.user] = (member, end)
        }
        return last.sorted { $0.key < $1.key }.map { user, typing in
            let stored = typingUsers[TypingUser(conversation: conversation, user: user)]?.read(at: time)
            return RoomSnapshot.Entry(
                user: user, expiry: typing.end,
                name: displayName(of: user, in: conversation).map(ByteString.init) ?? stored?.name,
                kind: stored?.devices.first { $0.id == typing.member.device }?.kind ?? .typing)
        }
    }
}

// MARK: Shared by several scripts

extension TwinRedis {
    func typingSet(_ conversation: ConversationID) -> [TypingDevice: Timestamp] {
        typingSets[conversation]?.read(at: time) ?? [:]
    }

    /// Stores the set without changing its expiry. An empty set is deleted.
    mutating func change(typingSet conversation: ConversationID, to set: [TypingDevice: Timestamp]) {
        let isThere = typingSets[conversation]?.read(at: time) != nil
        let expires = isThere ? typingSets[conversation]?.expires : nil
        typingSets[conversation] = set.isEmpty ? nil : Expiring(value: set, expires: expires)
    }

    /// Ends the user's typing, and publishes that.
    mutating func endTyping(of user: UserID, in conversation: ConversationID) {
        typingUsers[TypingUser(conversation: conversation, user: user)] = nil
        let change = TypingChange(user: user, typing: false, expiresIn: nil, at: time)
        published.append(.typing(change, in: conversation))
    }

    /// What the string says of the signal's user.
    private func typing(of signal: TypingSignal) -> TwinTyping {
        typingUsers[TypingUser(conversation: signal.conversation, user: signal.user)]?.read(at: time) ?? TwinTyping()
    }

    /// Stores on which of these devices the user still types, and publishes the result.
    private mutating func tellTyping(_ signal: TypingSignal, _ typing: TwinTyping) {
        let (user, conversation) = (signal.user, signal.conversation)
        let set = typingSet(conversation)
        let still = typing.devices.compactMap { device in
            set[TypingDevice(user: user, device: device.id)].map { (device: device, ends: $0) }
        }.filter { counts($0.ends) }.sorted { ($1.ends, $0.device.id) < ($0.ends, $1.device.id) }
        guard let first = still.first else { return endTyping(of: user, in: conversation) }
        typingUsers[TypingUser(conversation: conversation, user: user)] = Expiring(
            value: TwinTyping(devices: still.map(\.device), name: typing.name), expires: first.ends)
        let change = TypingChange(
            user: user, typing: true, expiresIn: first.ends.since(time).milliseconds, at: time,
            name: displayName(of: user, in: conversation).map(ByteString.init) ?? typing.name, kind: first.device.kind)
        published.append(.typing(change, in: conversation))
    }

    /// The latest valid end of typing. Later ends were stored before the clock was set back.
    private var latestEnd: Timestamp {
        planted.contains(.futureTypingCounts)
            ? Timestamp(milliseconds: .max) : time.advanced(by: settings.typingExpiry * 2)
    }

    /// Whether a device's typing with this end counts: it has not expired, and was not stored before the clock was set
    /// back.
    package func counts(_ end: Timestamp) -> Bool { end > time && end <= latestEnd }

    /// Removes expired entries, and those stored before the clock was set back.
    private mutating func tidy(_ conversation: ConversationID) {
        change(typingSet: conversation, to: typingSet(conversation).filter { counts($0.value) })
    }
}
