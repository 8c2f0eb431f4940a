// Who is here: what sessions have entered.

public import RollcallProtocol

extension Store {
    /// Writes that a session is in a conversation, or not; Redis decides whether it takes effect. If the conversation's key is
    /// foreign, nothing can be written, and an exit has nothing to do.
    public func write(_ write: HereWrite, reply: @escaping Reply<HereWritten>) {
        let state = write.content.map { $0.isIdle ? "idle" : "active" } ?? (write.isOwnExit ? "exit" : "gone")
        let nothingThere = HereWritten(outcome: .gone, time: write.until, since: nil)
        here(write, state: state) { reply(write.content == nil ? $0.orForeign(nothingThere) : $0) }
    }

    /// Reads the lines of these entries, in their order; `nil` for one that has none.
    public func lines(of entries: [EntryName], reply: @escaping Reply<[HereLine?]>) {
        let gathering = Gathering<RedisValue>(entries.count) { result in
            reply(
                result.map { values in
                    zip(entries, values).map { entry, value in
                        HereLine.lines(value.text ?? "").first { $0.session == entry.session.session }
                    }
                })
        }
        for (index, entry) in entries.enumerated() {
            let field = RedisCommand.Argument.string(entry.session.user.text)
            let part = gathering.part(index)
            commands.send(RedisCommand("HGET", .string(names.here(entry.conversation)), field)) {
                part($0.orForeign(.null))
            }
        }
    }

    /// - Parameter state: as the script takes it.
    func here(_ write: HereWrite, state: String, reply: @escaping Reply<HereWritten>) {
        let (session, conversation) = (write.entry.session, write.entry.conversation)
        call(
            .hereWrite, keys: [names.here(conversation), names.hereSince(conversation), names.members(conversation)],
            arguments: [
                .string(session.user.text), .string(session.device.text), .string(write.incarnation.name.string),
                .string(session.session.random.string), .integer(write.sequence), .string(state), .time(write.until),
                write.isOpen ? "open" : "closed", .string(write.replaced?.random.string ?? ""),
                write.since.map { .time($0) } ?? "", .string(write.content?.name?.string ?? ""),
                .string(write.content?.data?.text.string ?? ""), write.lasts.map { .milliseconds($0) } ?? "",
                .string(write.renews?.name.string ?? ""),
            ], reply: reply, read: HereWritten.init)
    }
}

extension HereWritten {
    fileprivate init?(_ value: RedisValue) {
        guard let parts = value.array, parts.count >= 3, let time = parts[1].time,
            let outcome = parts[0].text.flatMap(Outcome.init(word:))
        else { return nil }
        self.init(outcome: outcome, time: time, since: parts[2].time)
        guard parts.count == 6 else { return }
        sequence = parts[3].time?.milliseconds
        if let incarnation = parts[4].text, let sequence = parts[5].time?.milliseconds {
            former = Former(incarnation: Incarnation(name: incarnation), sequence: sequence)
        }
    }
}

extension HereSnapshot {
    /// Decodes what `room` answers: the count, and the user, since when, and the lines of each.
    init?(_ value: RedisValue, in conversation: ConversationID) {
        guard let words = value.array, let count = words.first?.integer else { return nil }
        self.init(
            stride(from: 1, to: words.count - 2, by: 3).compactMap { index in
                guard let user = words[index].text.flatMap({ try? UserID($0) }), let since = words[index + 1].time,
                    let lines = words[index + 2].text
                else { return nil }
                return (user, since, HereLine.lines(lines))
            }, count: Int(count), in: conversation)
    }
}
