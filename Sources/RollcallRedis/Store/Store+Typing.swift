// Typing: signals, stops, and what a conversation looks like at this moment.

public import RollcallModel

extension Store {
    /// Says that a device types until the signal's expiry.
    public func signalTyping(_ signal: TypingSignal, reply: @escaping Reply<TypingOutcome>) {
        call(
            .typingSignal, keys: typingKeys(signal),
            .string(signal.user.text), .string(signal.device.text), .time(signal.expiry),
            .milliseconds(settings.typingExpiry), conversationsDefault, reply: reply
        ) { $0.array?.first?.string.flatMap(TypingOutcome.init) }
    }

    /// Ends what a device typed, where it ends no later than the signal's expiry; it may follow its start in one
    /// pipeline.
    public func stopTyping(_ signal: TypingSignal, reply: @escaping Reply<TypingStopOutcome>) {
        call(
            .typingStop, keys: typingKeys(signal),
            .string(signal.user.text), .string(signal.device.text), .time(signal.expiry),
            .milliseconds(settings.typingExpiry), reply: reply
        ) { $0.array?.first?.string.flatMap(TypingStopOutcome.init) }
    }

    /// Reads a conversation as it is now.
    ///
    /// - Parameters:
    ///   - user: whose membership is asked about; nobody's, and ``RoomSnapshot/isMember`` is `false`.
    ///   - mostMembers: how many members are read; of more there are some, which need not be the same each time.
    public func room(
        _ conversation: ConversationID, user: UserID?, withTyping: Bool, mostMembers: Int,
        reply: @escaping Reply<RoomSnapshot>
    ) {
        call(
            .room, keys: [names.members(conversation), names.typing(conversation)],
            .string(user?.text ?? ""), conversationsDefault, withTyping ? 1 : 0, .integer(Int64(mostMembers)),
            .milliseconds(settings.typingExpiry), reply: reply
        ) { RoomSnapshot($0, mostMembers: mostMembers) }
    }

    var conversationsDefault: RedisCommand.Argument { settings.openByDefault ? "open" : "closed" }

    private func typingKeys(_ signal: TypingSignal) -> [String] {
        [
            names.typing(signal.conversation, signal.user), names.typing(signal.conversation),
            names.members(signal.conversation),
        ]
    }
}

extension RoomSnapshot {
    fileprivate init?(_ value: RedisValue, mostMembers: Int) {
        guard let parts = value.array, parts.count == 6, let time = parts[0].time,
            let managed = parts[1].integer, let member = parts[2].integer,
            let typing = parts[3].array, let fields = parts[4].array, let count = parts[5].integer
        else { return nil }
        let members = mostMembers > 0 && managed == 1 ? Self.members(fields) : nil
        // What is in the key and can be nobody's name is not counted either, where all are read.
        let areAll = fields.count / 2 > count
        self.init(
            time: time, isMember: member == 1, typists: Self.typists(typing), members: members,
            memberCount: areAll ? members?.count ?? 0 : Int(count))
    }

    private static func typists(_ triples: [RedisValue]) -> [Entry] {
        typists(
            stride(from: 0, to: triples.count - 2, by: 3).lazy.compactMap { index in
                guard let member = triples[index].string, let expiry = triples[index + 1].time else { return nil }
                return (member, expiry, triples[index + 2].string)
            })
    }

    static func members(_ fields: [RedisValue]) -> [UserID: String] {
        var members: [UserID: String] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            // `{managed}` is a name that no user can have.
            guard let text = fields[index].string, let user = try? UserID(text) else { continue }
            members[user] = fields[index + 1].string ?? ""
        }
        return members
    }
}
