// Access: what an app's server answered about who may join, for all workers.

public import RollcallProtocol

extension Store {
    /// Notes an answer, unless something was dropped since the question was sent.
    public func write(_ write: AccessWrite, reply: @escaping Reply<AccessWritten>) {
        let (action, time, people): (String, Duration, [UserID]?) =
            switch write.answer {
            case .allow(let time, let people): ("allow", time, people)
            case .deny(let time): ("deny", time, nil)
            }
        let names = people.map { RedisCommand.Argument.string($0.map(\.text).joined(separator: " ")) }
        call(
            .accessWrite, keys: accessKeys(write.question.conversation),
            arguments: [
                .string(action), .string(write.question.user.text), .time(write.sent), .milliseconds(time),
            ] + (names.map { [$0] } ?? []),
            reply: reply, read: Self.written)
    }

    /// Drops the user's admission, or all of the conversation: whoever is there stays only if the server admits them anew.
    public func dropAccess(
        of user: UserID?, to conversation: ConversationID, reply: @escaping Reply<AccessWritten>
    ) {
        call(
            .accessWrite, keys: accessKeys(conversation), arguments: ["drop", .string(user?.text ?? "")],
            reply: reply, read: Self.written)
    }

    private static func written(_ value: RedisValue) -> AccessWritten? {
        guard let parts = value.array, let time = parts.first?.time else { return nil }
        return AccessWritten(time: time, dropped: parts.count > 1 ? parts[1].time : nil)
    }

    private func accessKeys(_ conversation: ConversationID) -> [String] {
        [names.access(conversation), names.accessPeople(conversation), names.members(conversation)]
    }
}

extension AccessRecord {
    /// Reads the score of a user, and of the marks of drops.
    init(score: RedisValue, marks: [RedisValue], at time: Timestamp) {
        let latest = time.milliseconds + Self.memory
        func end(_ value: RedisValue) -> Int64? {
            value.text.flatMap { Double($0.string) }.map { Int64(max(0, min($0, 1e15))) }.flatMap {
                $0 <= latest ? $0 : nil
            }
        }
        self.init(
            until: end(score).flatMap { $0 > time.milliseconds ? Timestamp(milliseconds: $0) : nil },
            dropped: marks.compactMap(end).max().map { Timestamp(milliseconds: $0 - Self.memory) })
    }
}
