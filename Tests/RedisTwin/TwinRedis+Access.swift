// The script access_write: what an app's server answered about who may join, and what was dropped.

public import RollcallProtocol

/// `access:{CONVERSATION}`.
struct TwinAccess: Hashable, Sendable {
    var admitted: [UserID: Timestamp] = [:]
    /// The ends of the marks that drops left; `nil` for all users.
    var marks: [UserID?: Timestamp] = [:]
}

extension TwinRedis {
    /// Notes an answer, unless something was dropped since the question was sent.
    public mutating func write(_ write: AccessWrite) -> AccessWritten {
        let (user, conversation) = (write.question.user, write.question.conversation)
        var access = accessLeft(to: conversation)
        let dropped = max(drop(of: user, in: access), drop(of: nil, in: access))
        if write.sent < dropped.advanced(by: AccessRecord.margin), !planted.contains(.answersOutliveDrops) {
            keep(access, of: conversation, renewed: false)
            return AccessWritten(time: time, dropped: dropped)
        }
        switch write.answer {
        case .deny:
            let wasAdmitted = access.admitted.removeValue(forKey: user) != nil
            keep(access, of: conversation, renewed: false)
            if wasAdmitted {
                store(people(of: conversation).filter { $0 != user }, of: conversation)
                published.append(.members(.ask(user), of: conversation))
            }
            return AccessWritten(time: time)
        case .allow(let duration, let people):
            access.admitted[user] = time.advanced(by: duration)
            keep(access, of: conversation, renewed: true)
            if let people { store(people, of: conversation) }
            accessPeople[conversation]?.expires = time.advanced(by: Self.memory)
            return AccessWritten(time: time)
        }
    }

    /// Drops the user's admission, or all of the conversation.
    @discardableResult
    public mutating func dropAccess(of user: UserID?, to conversation: ConversationID) -> AccessWritten {
        var access = accessLeft(to: conversation)
        if let user { access.admitted[user] = nil } else { access = TwinAccess() }
        if !planted.contains(.answersOutliveDrops) { access.marks[user] = time.advanced(by: Self.memory) }
        keep(access, of: conversation, renewed: true)
        store(user.map { user in people(of: conversation).filter { $0 != user } } ?? [], of: conversation)
        published.append(.members(.ask(user), of: conversation))
        return AccessWritten(time: time)
    }

    /// What a read of the conversation tells of this user.
    func accessRecord(of user: UserID, to conversation: ConversationID) -> AccessRecord {
        let access = accessLeft(to: conversation)
        let marks = [access.marks[user], access.marks[nil]].compactMap { $0 }.filter(counts(mark:))
        return AccessRecord(
            until: access.admitted[user].flatMap { counts(mark: $0) ? $0 : nil },
            dropped: marks.max().map { $0.advanced(by: .zero - Self.memory) })
    }

    func people(of conversation: ConversationID) -> [UserID] { accessPeople[conversation]?.read(at: time) ?? [] }

    private static var memory: Duration { .milliseconds(AccessRecord.memory) }

    /// What ends even later was stored before the clock was set back.
    private func counts(mark: Timestamp) -> Bool { mark <= time.advanced(by: Self.memory) }

    private func drop(of user: UserID?, in access: TwinAccess) -> Timestamp {
        access.marks[user].flatMap { counts(mark: $0) ? $0.advanced(by: .zero - Self.memory) : nil }
            ?? Timestamp(milliseconds: 0)
    }

    private func accessLeft(to conversation: ConversationID) -> TwinAccess {
        var access = self.access[conversation]?.read(at: time) ?? TwinAccess()
        access.admitted = access.admitted.filter { $0.value > time }
        access.marks = access.marks.filter { $0.value > time }
        return access
    }

    private mutating func keep(_ access: TwinAccess, of conversation: ConversationID, renewed: Bool) {
        guard access != TwinAccess() else { return self.access[conversation] = nil }
        let expires = renewed ? time.advanced(by: Self.memory) : self.access[conversation]?.expires
        self.access[conversation] = Expiring(value: access, expires: expires)
    }

    private mutating func store(_ people: [UserID], of conversation: ConversationID) {
        guard people != self.people(of: conversation) else { return }
        accessPeople[conversation] =
            people.isEmpty ? nil : Expiring(value: people, expires: time.advanced(by: Self.memory))
        published.append(.members(.people, of: conversation))
    }
}
