// Presence: the decisions of sessions, and the records that come of them.

public import RollcallModel

extension Store {
    /// Writes one decision of a session; Redis decides whether it counts.
    public func write(_ write: DeviceWrite, reply: @escaping Reply<DeviceWritten>) {
        call(
            .deviceWrite, keys: [names.presence(write.name.user)],
            .string(write.name.user.text), .string(write.name.device.text), .string(write.state?.rawValue ?? "gone"),
            .string(write.incarnation.name), .string(write.name.session.random),
            write.began.map { .time($0) } ?? "", .milliseconds(write.age), .integer(write.sequence),
            .time(orZero: write.lost), .time(write.until), .milliseconds(settings.retention),
            reply: reply, read: DeviceWritten.init)
    }

    /// Reads these users' records. Pipelined: the records are not of one moment, but each is whole.
    public func presence(of users: [UserID], reply: @escaping Reply<PresenceSnapshot>) {
        let read = PresenceRead(of: users, reply: reply)
        // First the time: what is written after it has a version of this time at least.
        connection.send(RedisCommand("TIME")) { read.timeRead($0) }
        for (index, user) in users.enumerated() {
            connection.send(RedisCommand("HGETALL", .string(names.presence(user)))) {
                read.recordRead($0, at: index)
            }
        }
    }

    /// Tells the worker of a session that was taken over that it may let go of it.
    public func announceReplaced(
        _ previous: DeviceWritten.PreviousSession, user: UserID, device: DeviceID,
        reply: @escaping Reply<Void> = { _ in }
    ) {
        let notice = WorkerNotice.replaced(user: user, device: device, session: previous.session)
        connection.send(
            RedisCommand(
                "PUBLISH", .string(names.channel(of: .worker(previous.incarnation))), .string(notice.payload))
        ) { reply($0.map { _ in }) }
    }
}

extension DeviceWritten {
    init?(_ value: RedisValue) {
        guard let parts = value.array, let code = parts.first?.string, let outcome = Outcome(rawValue: code),
            parts.count >= 2, let time = parts[1].time
        else { return nil }
        var previous: PreviousSession?
        if parts.count >= 6, let incarnation = parts[4].string, let session = parts[5].string {
            previous = PreviousSession(incarnation: Incarnation(name: incarnation), session: session)
        }
        self.init(outcome: outcome, time: time, began: parts.count >= 3 ? parts[2].time : nil, previous: previous)
    }
}
