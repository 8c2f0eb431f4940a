// The scripts typing_signal, typing_stop and room: who types in a conversation.

public import RollcallProtocol

/// The key `typing:{CONVERSATION}:USER`.
package struct TypingUser: Hashable, Sendable {
    package var conversation: ConversationID
    package var user: UserID
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

/// A value of the hash `kinds:{CONVERSATION}`.
package struct TwinKind: Hashable, Sendable {
    package var kind: TypingKind
    package var ends: Timestamp
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
        var kind = signal.kind
        if let stored, stored > ends || stored == ends && kind == .typing {
            kind = self.kind(of: member, until: stored, in: signal.conversation)
        }
        set[member] = max(stored ?? ends, ends)
        let last = time.advanced(by: settings.typingExpiry)
        typingSets[signal.conversation] = Expiring(value: set, expires: last)
        if kind != .typing {
            var all = kinds[signal.conversation]?.read(at: time) ?? [:]
            all[member] = TwinKind(kind: kind, ends: max(stored ?? ends, ends))
            kinds[signal.conversation] = Expiring(value: all, expires: last)
        }
        let others = otherDevices(than: signal)
        tellTyping(signal, on: others + [signal.device], kind: others.isEmpty ? kind : nil)
        return .typing
    }

    /// Ends a device's typing, unless it expires later than the stopped signal.
    public mutating func stopTyping(_ stop: TypingSignal) -> TypingStopOutcome {
        let member = TypingDevice(user: stop.user, device: stop.device)
        var set = typingSet(stop.conversation)
        if let ends = set[member], ends > stop.expiry, ends <= latestEnd { return .late }
        set[member] = nil
        change(typingSet: stop.conversation, to: set)
        if stop.kind != .typing, var all = kinds[stop.conversation]?.read(at: time) {
            all[member] = nil
            let expires = kinds[stop.conversation]?.expires
            kinds[stop.conversation] = all.isEmpty ? nil : Expiring(value: all, expires: expires)
        }
        tidy(stop.conversation)
        tellTyping(stop, on: planted.contains(.stopIgnoresOtherDevices) ? [] : otherDevices(than: stop))
        return .stopped
    }

    /// Reads the current state of a conversation, and which of these users may join it.
    public func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int
    ) -> RoomSnapshot {
        RoomSnapshot(
            time: time, isManaged: memberNames[conversation] != nil,
            admitted: Set(users.filter { isMember($0, of: conversation) == true }),
            typists: withTyping ? typists(in: conversation) : [],
            members: mostMembers > 0 ? memberNames[conversation].map { some($0, mostMembers) } : nil,
            memberCount: memberNames[conversation]?.count ?? 0)
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
            RoomSnapshot.Entry(
                user: user, expiry: typing.end, name: displayName(of: user, in: conversation).map(ByteString.init),
                kind: kind(of: typing.member, until: typing.end, in: conversation))
        }
    }

    /// What a device does until this moment. What is stored with another end is of an earlier signal.
    package func kind(of member: TypingDevice, until end: Timestamp, in conversation: ConversationID) -> TypingKind {
        let stored = kinds[conversation]?.read(at: time)?[member]
        return stored?.ends == end ? stored?.kind ?? .typing : .typing
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
        typingDevices[TypingUser(conversation: conversation, user: user)] = nil
        let change = TypingChange(user: user, typing: false, expiresIn: nil, at: time)
        published.append(.typing(change, in: conversation))
    }

    /// The user's other devices that the string names.
    private func otherDevices(than signal: TypingSignal) -> [DeviceID] {
        let key = TypingUser(conversation: signal.conversation, user: signal.user)
        return (typingDevices[key]?.read(at: time) ?? []).filter { $0 != signal.device }
    }

    /// Stores which of these devices still type, and publishes the user's resulting state.
    ///
    /// - Parameter kind: if it is known without a look at what is stored.
    private mutating func tellTyping(_ signal: TypingSignal, on devices: [DeviceID], kind: TypingKind? = nil) {
        let (user, conversation) = (signal.user, signal.conversation)
        let set = typingSet(conversation)
        let typing = devices.compactMap { device in
            set[TypingDevice(user: user, device: device)].map { (device: device, ends: $0) }
        }.filter { counts($0.ends) }.sorted { ($1.ends, $0.device) < ($0.ends, $1.device) }
        guard let first = typing.first else { return endTyping(of: user, in: conversation) }
        let last = first.ends
        typingDevices[TypingUser(conversation: conversation, user: user)] = Expiring(
            value: typing.map(\.device), expires: last)
        let change = TypingChange(
            user: user, typing: true, expiresIn: last.since(time).milliseconds, at: time,
            name: displayName(of: user, in: conversation).map(ByteString.init),
            kind: kind
                ?? self.kind(of: TypingDevice(user: user, device: first.device), until: last, in: conversation))
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
