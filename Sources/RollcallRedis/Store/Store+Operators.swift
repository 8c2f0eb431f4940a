// Requests of operators: reports on workers and users, and actions on users.

public import RollcallProtocol

extension Store {
    /// Reads the data of all workers, including dead ones that were not swept yet.
    public func workers(reply: @escaping Reply<WorkersReport>) {
        commands.send(RedisCommand("ZRANGE", .string(names.workers), 0, -1)) { result in
            switch result {
            case .success(let value):
                let incarnations = (value.array ?? []).compactMap { $0.text.map(Incarnation.init(name:)) }
                self.reports(on: incarnations, reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    /// Reads everything stored about a user, and about the workers in the user's record.
    ///
    /// - Parameter own: the reader's own incarnation, which is read too: if its lease exists, Redis has not lost the
    ///   leases of others either.
    public func report(on user: UserID, own: Incarnation?, reply: @escaping Reply<UserReport>) {
        let gathering = Gathering<RedisValue>(3) { result in
            switch result {
            case .success(let values): self.report(on: user, own: own, values, reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
        let (time, record, revoked) = (gathering.part(0), gathering.part(1), gathering.part(2))
        commands.send(RedisCommand("TIME"), to: names.presence(user), reply: time)
        commands.send(RedisCommand("HGETALL", .string(names.presence(user)))) { record($0.orForeign(.array([]))) }
        commands.send(RedisCommand("GET", .string(names.revoked(user)))) { revoked($0.orForeign(.null)) }
    }

    /// Reads which conversations the user's devices have open, and where servers say that the user is here, by the lists of these
    /// incarnations.
    public func open(
        by user: UserID, on incarnations: [Incarnation], reply: @escaping Reply<[DeviceID: [ConversationID]]>
    ) {
        let lists = incarnations.map(names.entries)
        let gathering = Gathering<[EntryName]>(lists.count) { result in
            guard case .success(let found) = result else { return reply(result.map { _ in [:] }) }
            // A scan may find an item twice, and a list may have more than is there.
            let entries = Set(found.joined()).sorted { $0.conversation < $1.conversation }
            self.lines(of: entries) { lines in
                reply(
                    lines.map { lines in
                        let open = zip(entries, lines).filter { $1 != nil }.map(\.0)
                        return Dictionary(grouping: open, by: \.session.device).mapValues { $0.map(\.conversation) }
                    })
            }
        }
        for (index, list) in lists.enumerated() {
            scan(list, for: user, from: "0", reply: gathering.part(index))
        }
    }

    /// Goes on from step to step, since the list may be long.
    private func scan(
        _ list: String, for user: UserID, from cursor: ByteString, reply: @escaping Reply<[EntryName]>
    ) {
        let special: [UInt8] = Array("\\*?[".utf8)
        let name = user.text.utf8.flatMap { special.contains($0) ? [special[0], $0] : [$0] }
        let pattern = RedisCommand.Argument.bytes(name + Array(" *".utf8))
        commands.send(RedisCommand("SSCAN", .string(list), .string(cursor.string), "MATCH", pattern, "COUNT", 1000)) {
            let page = $0.flatMap { value in
                Self.understood(value, command: "SSCAN") { value in
                    value.array.flatMap { parts in
                        parts.count == 2 ? parts[0].text.flatMap { next in parts[1].array.map { (next, $0) } } : nil
                    }
                }
            }
            guard case .success(let (next, members)) = page else {
                return reply(page.map { _ in [] }.orForeign([]))
            }
            let entries = members.compactMap { member -> EntryName? in
                guard case .entry(let entry)? = member.text.flatMap(ListItem.init(member:)) else { return nil }
                return entry
            }
            guard next != "0" else { return reply(.success(entries)) }
            self.scan(list, for: user, from: next) { reply($0.map { entries + $0 }) }
        }
    }

    /// Revokes all tokens that were issued for the user before `moment` (default: now, by the later of this host's clock and
    /// Redis's). The revocation is kept as long as a record is.
    ///
    /// - Parameter reply: the moment; if the tokens were revoked before with a later one, that one.
    public func revokeTokens(
        of user: UserID, issuedBefore moment: Timestamp? = nil, reply: @escaping Reply<Timestamp>
    ) {
        call(
            .userRevoke, keys: [names.revoked(user)],
            arguments: [.milliseconds(settings.retention), .time(moment ?? .hostTime), moment == nil ? "1" : ""],
            reply: reply
        ) { $0.time }
    }

    /// Erases the user's record, and removes the devices from the session lists of their workers. A revocation is kept,
    /// because it refuses a session that returns from a worker that was cut off.
    ///
    /// - Parameter reply: `false` if a session of the user exists; then the record is kept.
    public func erase(_ report: UserReport, reply: @escaping Reply<Bool>) {
        let user = report.record.user
        let dead = report.workers.standings.filter(\.value.isDead).map {
            RedisCommand.Argument.string($0.key.name.string)
        }
        call(
            .userErase, keys: keys(names.presence(user), names.person(user)),
            arguments: [.string(user.text), .integer(Int64(settings.keptEvents ?? 0))] + dead,
            reply: { result in
                guard case .success(true) = result else { return reply(result) }
                self.strike(report) { struck in
                    guard case .success = struck, self.settings.keptEvents != nil else {
                        return reply(struck.map { true })
                    }
                    self.eraseEvents(of: user, from: "+", met: 0) { reply($0.map { true }) }
                }
            }
        ) { $0.integer.map { $0 == 1 } }
    }

    /// Removes the user's events but the last. Goes on from step to step, since the stream may be long.
    private func eraseEvents(
        of user: UserID, from id: RedisCommand.Argument, met: RedisCommand.Argument, reply: @escaping Reply<Void>
    ) {
        let taken: Reply<(next: String, met: Int64)> = { result in
            switch result {
            case .success(let step) where step.next.isEmpty: reply(.success(()))
            case .success(let step):
                self.eraseEvents(of: user, from: .string(step.next), met: .integer(step.met), reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
        call(
            .eventsErase, keys: [names.events], arguments: [.string(user.text), id, met],
            reply: { taken($0.orForeign(("", 0))) }
        ) {
            guard let parts = $0.array, parts.count == 2, let next = parts[0].text, let met = parts[1].integer else {
                return nil
            }
            return (next.string, met)
        }
    }

    private func strike(_ report: UserReport, reply: @escaping Reply<Void>) {
        let gathering = Gathering<Void>(report.record.devices.count) { reply($0.map { _ in }) }
        for (index, (device, record)) in report.record.devices.enumerated() {
            let name = SessionName(user: report.record.user, device: device, session: record.session)
            unrecord([.session(name)], of: record.incarnation, reply: gathering.part(index))
        }
    }

    private func report(
        on user: UserID, own: Incarnation?, _ values: [RedisValue], reply: @escaping Reply<UserReport>
    ) {
        let hash = values[1].array ?? []
        let record: PresenceRecord
        switch Self.understood(values[0], command: "TIME", Timestamp.init(redisTime:)) {
        case .success(let time): record = PresenceRecord(user: user, hash: hash, readAfter: time)
        case .failure(let error): return reply(.failure(error))
        }
        let named = Set(record.devices.values.map(\.incarnation)).union(own.map { [$0] } ?? [])
        // Read after the record: an incarnation claims its lease before it writes any record.
        reports(on: named.sorted()) { workers in
            reply(
                workers.map {
                    UserReport(
                        record: record, storedStatus: HashFields(hash)["status"], workers: $0, revoked: values[2].time)
                })
        }
    }

    private func reports(on incarnations: [Incarnation], reply: @escaping Reply<WorkersReport>) {
        let gathering = Gathering<RedisValue>(2 * incarnations.count + 1) { result in
            reply(result.flatMap { Self.reports(on: incarnations, $0) })
        }
        for (index, incarnation) in incarnations.enumerated() {
            let (lease, hash) = (gathering.part(2 * index), gathering.part(2 * index + 1))
            commands.send(
                RedisCommand("ZSCORE", .string(names.workers), .string(incarnation.name.string)), reply: lease)
            commands.send(RedisCommand("HGETALL", .string(names.worker(incarnation))), reply: hash)
        }
        commands.send(RedisCommand("TIME"), to: names.workers, reply: gathering.part(2 * incarnations.count))
    }

    private static func reports(
        on incarnations: [Incarnation], _ values: [RedisValue]
    ) -> Result<WorkersReport, RedisError> {
        understood(values[2 * incarnations.count], command: "TIME", Timestamp.init(redisTime:)).map { time in
            let workers = incarnations.enumerated().map { index, incarnation in
                WorkerReport(incarnation, leaseEnd: values[2 * index], HashFields(values[2 * index + 1].array ?? []))
            }
            return WorkersReport(time: time, workers: workers)
        }
    }
}

extension Store {
    /// Asks the single server what tells it from others; `nil` if it may not say so.
    package func runID(reply: @escaping Reply<ByteString?>) {
        commands.send(RedisCommand("INFO", "server"), to: names.workers) { reply(.success((try? $0.get())?.runID)) }
    }
}

/// A hash from a reply to `HGETALL`; values that are not text are left out.
struct HashFields {
    private var values: [ByteString: ByteString] = [:]

    init(_ hash: [RedisValue]) {
        for index in stride(from: 0, to: hash.count - 1, by: 2) {
            guard let field = hash[index].text else { continue }
            values[field] = hash[index + 1].text
        }
    }

    subscript(field: ByteString) -> ByteString? { values[field] }

    func number(_ field: ByteString) -> Int64? { self[field].flatMap { Int64(decimal: $0) } }

    func time(_ field: ByteString) -> Timestamp? { number(field).map(Timestamp.init(milliseconds:)) }
}

extension WorkerReport {
    /// Decodes the reply to `ZSCORE` and the fields of the incarnation's hash.
    fileprivate init(_ incarnation: Incarnation, leaseEnd: RedisValue, _ fields: HashFields) {
        self.init(incarnation: incarnation, leaseEnd: leaseEnd.time)
        (host, edge, version, access) = (fields["host"], fields["edge"], fields["version"], fields["access"])
        (pid, sessions) = (fields.number("pid"), fields.number("sessions"))
        (startedAt, beat) = (fields.time("started_at"), fields.time("beat"))
        (isDraining, appendsEvents) = (fields["draining"] != nil, fields["events"] != nil)
        for figure in WorkerFigures.fields { figures[keyPath: figure.value] = fields.number(ByteString(figure.name)) }
    }
}
