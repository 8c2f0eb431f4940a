// Presence: the decisions of sessions, and the resulting records.

public import RollcallProtocol

extension Store {
    /// Writes one decision of a session; Redis decides whether it takes effect. If the user's key is foreign, a device
    /// cannot be written, and a removal has nothing to do.
    public func write(_ write: DeviceWrite, reply: @escaping Reply<DeviceWritten>) {
        let nothingThere = DeviceWritten(outcome: .done, time: write.opened, began: nil, previous: nil)
        var arguments: [RedisCommand.Argument] = [
            .string(write.name.user.text), .string(write.name.device.text), .string(write.state?.rawValue ?? "gone"),
            .string(write.incarnation.name.string), .string(write.name.session.random.string),
            write.began.map { .time($0) } ?? "", .milliseconds(write.age), .integer(write.sequence),
            .time(orZero: write.lost), .time(write.until), .milliseconds(settings.retention), .time(write.opened),
            write.issued.map { .time($0) } ?? "",
            write.issued == nil ? "" : .time(.hostTime), write.isAfterOutage ? "1" : "",
        ]
        let (hasProfile, hasPerson) = (!write.profile.isEmpty, write.person > 0)
        if let kept = settings.keptEvents {
            arguments += [.integer(Int64(kept)), .integer(write.reset)]
        } else if hasProfile || hasPerson {
            arguments += ["", ""]
        }
        if hasProfile || hasPerson { arguments.append(hasPerson ? .integer(write.person) : "") }
        for field in Profile.fields {
            guard let text = write.profile[keyPath: field.text] else { continue }
            arguments += [.string("\(field.name)"), .string(text.string)]
        }
        call(
            .deviceWrite,
            keys: keys(
                names.presence(write.name.user), names.revoked(write.name.user), names.person(write.name.user)),
            arguments: arguments,
            reply: { reply(write.state == nil ? $0.orForeign(nothingThere) : $0) }, read: DeviceWritten.init)
    }

    /// Reads these users' records, and then looks up each incarnation in them that is not `known`. The reads are
    /// pipelined: each record is consistent, but they are not from the same moment. A record that cannot be read does
    /// not affect the others.
    public func presence(of users: [UserID], known: KnownWorkers, reply: @escaping Reply<PresenceSnapshot>) {
        PresenceRead(of: users, known: known, from: self, reply: reply).begin()
    }

    /// Reads what Redis holds of these sessions of an incarnation; writes nothing.
    public func audit(
        _ sessions: [SessionName], of incarnation: Incarnation, reply: @escaping Reply<[DeviceStanding]>
    ) {
        let places = sessions.map { commands.place(of: names.presence($0.user)) }
        let gathering = Gathering<RedisValue>(4 * sessions.count) { result in
            reply(
                result.map { values in
                    zip(sessions.indices, places).map { DeviceStanding(values[4 * $0..<4 * $0 + 4], place: $1) }
                })
        }
        for (index, session) in sessions.enumerated() {
            let (record, isListed) = (gathering.part(4 * index), gathering.part(4 * index + 1))
            let (revoked, person) = (gathering.part(4 * index + 2), gathering.part(4 * index + 3))
            let field = RedisCommand.Argument.string("device:\(session.device)")
            commands.send(RedisCommand("HMGET", .string(names.presence(session.user)), field, "person")) { [self] in
                let found = $0.orForeign(.null)
                record(found)
                // Nearly nobody has one.
                guard (try? found.get())?.array?.last?.revision ?? 0 > 0 else { return person(.success(.null)) }
                commands.send(RedisCommand("HGET", .string(names.person(session.user)), "revision")) {
                    person($0.orForeign(.null))
                }
            }
            if commands.isSpread {
                // The list is on the same primary as the leases, and is lost only together with them.
                isListed(.success(.integer(1)))
            } else {
                commands.send(RedisCommand("SISMEMBER", .string(names.sessions(incarnation)), session.member)) {
                    isListed($0.orForeign(.integer(0)))
                }
            }
            commands.send(RedisCommand("GET", .string(names.revoked(session.user)))) { revoked($0.orForeign(.null)) }
        }
    }

    /// Sends a notice to a worker.
    ///
    /// - Parameter reply: whether any subscriber received it.
    public func announce(_ notice: WorkerNotice, to incarnation: Incarnation, reply: @escaping Reply<Bool>) {
        let channel = names.channel(of: .worker(incarnation))
        commands.publish(notice.payload, on: channel) {
            reply($0.map { ($0.integer ?? 0) > 0 })
        }
    }
}

extension DeviceWritten {
    init?(_ value: RedisValue) {
        guard let parts = value.array, let code = parts.first?.text, let outcome = Outcome(word: code),
            parts.count >= 2, let time = parts[1].time
        else { return nil }
        var previous: PreviousSession?
        if parts.count >= 7, let incarnation = parts[5].text, let session = parts[6].text {
            previous = PreviousSession(incarnation: Incarnation(name: incarnation), session: session)
        }
        let third = parts.count >= 3 ? parts[2] : .null
        self.init(
            outcome: outcome, time: time, began: outcome == .revoked ? nil : third.time, previous: previous,
            person: parts.count >= 5 ? parts[4].integer ?? 0 : 0,
            revokedAgo: outcome == .revoked ? third.integer.map { .milliseconds($0) } : nil)
    }
}

extension DeviceStanding {
    /// Decodes the replies to an audit's commands for one session.
    fileprivate init(_ replies: ArraySlice<RedisValue>, place: Int?) {
        let replies = Array(replies)
        let record = replies[0].array ?? []
        self.init(
            record: record.first?.text.flatMap { DeviceRecord($0) }, isListed: replies[1].integer == 1,
            revoked: replies[2].time, place: place,
            person: PersonRevisions(named: record.last?.revision ?? 0, stored: replies[3].revision))
    }
}
