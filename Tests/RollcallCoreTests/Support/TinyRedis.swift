import RollcallCore
import RollcallModel

/// As much of Redis as a shard can notice: records, typing and members, each change heard by those who listen.
struct TinyRedis {
    enum Heard {
        case typing(TypingChange, ConversationID)
        case presence(Presence)
        case members(MemberChange, ConversationID)
    }

    var time = Timestamp(milliseconds: 0)
    var records: [UserID: PresenceRecord] = [:]
    var listed: [Incarnation: Set<SessionName>] = [:]
    var typing: [ConversationID: [UserID: [DeviceID: Timestamp]]] = [:]
    /// The members of the managed conversations.
    var members: [ConversationID: [UserID: String]] = [:]
    var published: [Heard] = []

    func record(of user: UserID) -> PresenceRecord {
        records[user]
            ?? PresenceRecord(
                user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: time.milliseconds - 1)
    }

    mutating func write(_ write: DeviceWrite) -> DeviceWritten {
        guard time <= write.until else { return answer(.expired) }
        var record = record(of: write.name.user)
        let old = record.devices[write.name.device]
        var began = write.began ?? time.advanced(by: .zero - write.age)
        if let old, old.session == write.name.session {
            began = old.began
            if write.sequence == old.sequence { return answer(.done, began: began) }
            if write.sequence < old.sequence { return answer(.late, began: began) }
        } else if let old, began < old.began {
            return answer(.replaced)
        }
        record.devices[write.name.device] = DeviceRecord(
            state: write.state, incarnation: write.incarnation, began: began, session: write.name.session,
            sequence: write.sequence, since: time, lost: write.lost)
        record.version = max(record.version + 1, time.milliseconds)
        record.updatedAt = time
        record.lastSeen = write.lost ?? time
        records[write.name.user] = record
        published.append(.presence(record.presence(past: [:])))
        let previous = old.flatMap { old in
            old.session == write.name.session || old.state == nil
                ? nil
                : DeviceWritten.PreviousSession(
                    incarnation: old.incarnation, session: "\(old.began.milliseconds)-\(old.session)")
        }
        return answer(.written, began: began, previous: previous)
    }

    mutating func signal(_ signal: TypingSignal) -> TypingOutcome {
        guard isMember(signal.user, of: signal.conversation) else { return .notAMember }
        guard time < signal.expiry else { return .late }
        typing[signal.conversation, default: [:]][signal.user, default: [:]][signal.device] = signal.expiry
        tell(signal.user, in: signal.conversation)
        return .typing
    }

    mutating func stop(_ stop: TypingSignal) {
        if let ends = typing[stop.conversation]?[stop.user]?[stop.device], ends > stop.expiry { return }
        typing[stop.conversation]?[stop.user]?[stop.device] = nil
        tell(stop.user, in: stop.conversation)
    }

    mutating func setMembers(_ users: [UserID: String]?, of conversation: ConversationID) {
        members[conversation] = users
        published.append(.members(.reset, conversation))
    }

    mutating func setMember(_ user: UserID, name: String, of conversation: ConversationID) {
        members[conversation, default: [:]][user] = name
        published.append(.members(.member(user, name: name), conversation))
    }

    mutating func removeMember(_ user: UserID, of conversation: ConversationID) {
        members[conversation]?[user] = nil
        typing[conversation]?[user] = nil
        published.append(.members(.removed(user), conversation))
        tell(user, in: conversation)
    }

    func room(_ read: RoomRead) -> RoomSnapshot {
        let typists = (typing[read.conversation] ?? [:]).compactMap { user, devices in
            devices.values.max().flatMap { ends in
                ends > time
                    ? RoomSnapshot.Entry(user: user, expiry: ends, name: members[read.conversation]?[user]) : nil
            }
        }
        return RoomSnapshot(
            time: time, isMember: isMember(read.user, of: read.conversation),
            typists: read.withTyping ? typists.sorted { $0.user < $1.user } : [],
            members: read.withMembers ? members[read.conversation] : nil)
    }

    private func isMember(_ user: UserID, of conversation: ConversationID) -> Bool {
        members[conversation].map { $0[user] != nil } ?? true
    }

    private mutating func tell(_ user: UserID, in conversation: ConversationID) {
        let ends = (typing[conversation]?[user] ?? [:]).values.filter { $0 > time }.max()
        published.append(
            .typing(
                TypingChange(
                    user: user, typing: ends != nil, expiresIn: ends?.since(time).milliseconds, at: time,
                    name: ends == nil ? nil : members[conversation]?[user]),
                conversation))
    }

    private func answer(
        _ outcome: DeviceWritten.Outcome, began: Timestamp? = nil,
        previous: DeviceWritten.PreviousSession? = nil
    ) -> DeviceWritten {
        DeviceWritten(outcome: outcome, time: time, began: began, previous: previous)
    }
}
