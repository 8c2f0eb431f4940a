// What users have decided that others see.

public import RollcallProtocol

extension Store {
    /// Changes a user's person, and publishes that.
    public func write(_ write: PersonWrite, reply: @escaping Reply<PersonWritten>) {
        let known = write.known?.stored ?? []
        var arguments: [RedisCommand.Argument] = [
            .string(write.user.text), .string(write.kind.rawValue), .integer(Int64(settings.keptEvents ?? 0)),
            .integer(Int64(known.count)),
        ]
        for (field, value) in known { arguments += [.string(field.string), .string(value.string)] }
        for (field, value) in write.settings { arguments += [.string(field.rawValue), .string(value?.string ?? "")] }
        for (user, isBlocked) in write.blocks { arguments += [.string("block:\(user)"), isBlocked ? "1" : ""] }
        call(
            .personWrite, keys: keys(names.presence(write.user), names.person(write.user)), arguments: arguments,
            reply: reply, read: PersonWritten.init)
    }

    /// Reads a user's person.
    ///
    /// - Parameter reply: `nil` if there is none that this version understands.
    public func person(of user: UserID, reply: @escaping Reply<Person?>) {
        commands.send(RedisCommand("HGETALL", .string(names.person(user)))) {
            reply($0.orForeign(.array([])).map { Person($0.array ?? []) })
        }
    }
}

extension Store {
    /// Reads the persons of these users, in their order.
    public func persons(of users: [UserID], reply: @escaping Reply<[Person?]>) {
        let gathering = Gathering<Person?>(users.count, reply: reply)
        for (index, user) in users.enumerated() { person(of: user, reply: gathering.part(index)) }
    }

    /// Reads the revisions of persons that the records of these users name, in their order; 0 for none.
    public func personRevisions(of users: [UserID], reply: @escaping Reply<[Int64]>) {
        let gathering = Gathering<Int64>(users.count, reply: reply)
        for (index, user) in users.enumerated() {
            let part = gathering.part(index)
            commands.send(RedisCommand("HGET", .string(names.presence(user)), "person")) {
                part($0.orForeign(.null).map { $0.revision })
            }
        }
    }
}

extension RedisValue {
    /// A revision that is stored as text; 0 for anything else.
    var revision: Int64 { text.flatMap { Int64(decimal: $0) } ?? 0 }
}

extension Person {
    /// Reads the reply to `HGETALL`.
    init?(_ hash: [RedisValue]) {
        self.init(
            stored: stride(from: 0, to: hash.count - 1, by: 2).lazy.compactMap { index in
                hash[index].text.flatMap { field in hash[index + 1].text.map { (field: field, value: $0) } }
            })
    }
}

extension Person {
    /// The same of a reply that is not a tree yet.
    init?(_ hash: RESPReply) {
        var fields: [(field: ByteString, value: ByteString)] = []
        hash.forEachField { field, value in
            if let field = ByteString(validating: field), let value = ByteString(validating: value) {
                fields.append((field, value))
            }
        }
        self.init(stored: fields)
    }
}

extension PersonWritten {
    fileprivate init?(_ value: RedisValue) {
        guard let parts = value.array, parts.count >= 3, let time = parts[0].time, let code = parts[1].text else {
            return nil
        }
        self.init(
            time: time, person: Person(parts[2].array ?? []), isTooMuch: code == "limit",
            incarnations: parts[3...].compactMap { $0.text.map(Incarnation.init(name:)) }.sorted())
    }
}
