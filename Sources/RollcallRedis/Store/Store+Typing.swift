// Typing: signals, stops, and the current state of a conversation.

public import RollcallProtocol

extension Store {
    /// Sets a device as typing until the signal's expiry.
    ///
    /// - Parameter isOpen: whether the session may type there while the conversation has no members.
    public func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping Reply<TypingOutcome>) {
        call(
            .typingSignal, keys: typingKeys(signal),
            arguments: [
                .string(signal.user.text), .string(signal.device.text), .time(signal.expiry),
                .milliseconds(settings.typingExpiry), isOpen ? "open" : "closed", .kind(signal), .name(signal),
            ],
            reply: reply
        ) { $0.array?.first?.text.flatMap(TypingOutcome.init(word:)) }
    }

    /// Ends a device's typing that expires no later than the signal's expiry. May follow its start in the same
    /// pipeline.
    public func stopTyping(_ signal: TypingSignal, reply: @escaping Reply<TypingStopOutcome>) {
        call(
            .typingStop, keys: typingKeys(signal),
            arguments: [
                .string(signal.user.text), .string(signal.device.text), .time(signal.expiry),
                .milliseconds(settings.typingExpiry),
            ],
            reply: reply
        ) { $0.array?.first?.text.flatMap(TypingStopOutcome.init(word:)) }
    }

    /// Sets a user as typing on behalf of an app's server, under a device of ``RollcallProtocol/DeviceID/ofServer(mark:)``.
    ///
    /// - Parameter reply: `late` also if there was nothing to renew, because another server or worker has said something
    ///   else since.
    public func serverTypes(_ signal: TypingSignal, _ step: ServerTypingStep, reply: @escaping Reply<TypingOutcome>) {
        call(
            .typingServer, keys: typingKeys(signal),
            arguments: [
                .string(signal.user.text), .string(signal.device.text), .time(signal.expiry),
                .milliseconds(settings.typingExpiry), .string(step.rawValue), .kind(signal), .name(signal),
            ],
            reply: reply
        ) { $0.array?.first?.text.flatMap(TypingOutcome.init(word:)) }
    }

    /// Reads the current state of a conversation.
    ///
    /// - Parameters:
    ///   - users: those whose membership is read.
    ///   - mostMembers: the most members to read. If there are more, the selection may differ each time.
    ///   - mostHere: the most users to read who are here; 0 for none.
    public func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int, mostHere: Int = 0,
        reply: @escaping Reply<RoomSnapshot>
    ) {
        let withHere = mostHere > 0
        let withAccess = settings.readsAccess && !withHere && (!users.isEmpty || mostMembers > 0)
        let keys =
            [names.members(conversation), names.typing(conversation), names.typingOfUsers(in: conversation)]
            + (withHere ? [names.here(conversation), names.hereSince(conversation)] : [])
            + (withAccess ? [names.access(conversation), names.accessPeople(conversation)] : [])
        let arguments: [RedisCommand.Argument] =
            [withTyping ? 1 : 0, .integer(Int64(mostMembers)), .milliseconds(settings.typingExpiry)]
            + (withHere || withAccess ? [.integer(Int64(mostHere))] : []) + users.map { .string($0.text) }
        let read = { [self] (done: @escaping (Int) -> Void) in
            var size = 0
            call(.room, keys: keys, arguments: arguments) {
                done(size)
                reply($0)
            } read: {
                size = $0.byteCount
                return RoomSnapshot(
                    $0, of: conversation, users: users, mostMembers: mostMembers, withHere: withHere,
                    withAccess: withAccess)
            }
        }
        guard let connection = commands.connection(for: keys[0]) else { return read { _ in } }
        connection.reads.enter(.room, count: 1, read)
    }

    private func typingKeys(_ signal: TypingSignal) -> [String] {
        [
            names.typing(signal.conversation, signal.user), names.typing(signal.conversation),
            names.members(signal.conversation),
        ]
    }
}

extension RedisCommand.Argument {
    /// Empty for typing, of which nothing more is stored.
    fileprivate static func kind(_ signal: TypingSignal) -> Self { .string(signal.kind.word ?? "") }
    /// Empty for none.
    fileprivate static func name(_ signal: TypingSignal) -> Self { .string(signal.name?.string ?? "") }
}

extension RoomSnapshot {
    fileprivate init?(
        _ value: RedisValue, of conversation: ConversationID, users: [UserID], mostMembers: Int, withHere: Bool,
        withAccess: Bool
    ) {
        guard let parts = value.array, parts.count == (withHere || withAccess ? 7 : 6), let time = parts[0].time,
            let managed = parts[1].integer, let answers = parts[2].array, answers.count == users.count,
            let typing = parts[3].array, let fields = parts[4].array, let count = parts[5].integer
        else { return nil }
        let here = withHere ? HereSnapshot(parts[6], in: conversation) : nil
        guard (here != nil) == withHere else { return nil }
        let admitted = Set(zip(users, answers).lazy.filter { $1.integer == 1 }.map(\.0))
        let members = mostMembers > 0 && managed == 1 ? Self.members(fields) : nil
        // If all members were read, fields that cannot be user names are not counted either.
        let areAll = fields.count / 2 > count
        self.init(
            time: time, isManaged: managed == 1, admitted: admitted, typists: Self.typists(typing), members: members,
            memberCount: areAll ? members?.count ?? 0 : Int(count), here: here)
        if withAccess, let access = parts[6].array, access.count == 2 + 2 * users.count {
            let people = (access[0].text?.utf8.split(separator: UInt8(ascii: " ")) ?? []).compactMap {
                try? UserID(ByteString(decoding: $0))
            }
            self.people = Set(people).sorted()
            for (index, user) in users.enumerated() {
                let marks = [access[1], access[3 + 2 * index]]
                self.access[user] = AccessRecord(score: access[2 + 2 * index], marks: marks, at: time)
            }
        }
    }

    private static func typists(_ words: [RedisValue]) -> [Entry] {
        typists(
            stride(from: 0, to: words.count - 3, by: 4).lazy.compactMap { index in
                guard let member = words[index].text, let expiry = words[index + 1].time else { return nil }
                return (member, expiry, words[index + 2].text, TypingKind(stored: words[index + 3].text))
            })
    }

    static func members(_ fields: [RedisValue]) -> [UserID: ByteString] {
        var members: [UserID: ByteString] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            // `{managed}` is a name that no user can have.
            guard let text = fields[index].text, let user = try? UserID(text) else { continue }
            members[user] = fields[index + 1].text ?? ""
        }
        return members
    }
}
