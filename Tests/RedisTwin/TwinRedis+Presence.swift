// device_write and the reads of presence:{USER}.

public import RollcallModel

extension TwinRedis {
    /// Writes one decision of a session, if the order of sessions lets it count.
    public mutating func write(_ write: DeviceWrite) -> DeviceWritten {
        guard time <= write.until else { return answer(.expired) }
        let old = stored(write.name.user).devices[write.name.device]
        let saysItWent = write.state == nil && old?.session == write.name.session
        if !saysItWent, let issued = write.issued, let revoked = revocations[write.name.user]?.read(at: time),
            issued < revoked
        {
            return answer(.revoked)
        }
        let (outcome, began) = verdict(on: write, after: old)
        guard outcome == .written, let began else { return answer(outcome, began: began) }
        let device = device(write, began: began, after: old)
        store(device, as: write.name, seen: [seen(device, until: time), seen(old, before: write)].latest)
        return answer(.written, began: began, previous: old.flatMap { previous($0, takenOverBy: write) })
    }

    /// Reads these users' records, and the standings of the incarnations that they name and that are not `known`.
    public func presence(of users: [UserID], known: KnownWorkers) -> PresenceSnapshot {
        let records = users.map { record(of: $0).counting(known.living) }
        let strangers = known.strangers(in: records).map { ($0, standing(of: $0)) }
        return PresenceSnapshot(records: records, standings: known.judged(Dictionary(uniqueKeysWithValues: strangers)))
    }

    /// One user's record as a read finds it.
    public func record(of user: UserID) -> PresenceRecord {
        presences[user]?.read(at: time) ?? absent(user, version: time.milliseconds - 1)
    }

    /// Reads what stands of these sessions.
    public func audit(_ names: [SessionName], of incarnation: Incarnation) -> [DeviceStanding] {
        names.map {
            DeviceStanding(
                record: record(of: $0.user).devices[$0.device],
                isListed: sessions[incarnation]?.contains($0) ?? false,
                revoked: revocations[$0.user]?.read(at: time))
        }
    }

    /// Tells the worker of a session that was taken over.
    public mutating func announceReplaced(
        _ previous: DeviceWritten.PreviousSession, user: UserID, device: DeviceID
    ) {
        published.append(
            .notice(.replaced(user: user, device: device, session: previous.session), to: previous.incarnation))
    }

    /// From now on no token counts that was issued for the user before.
    public mutating func revokeTokens(of user: UserID) -> Timestamp {
        revocations[user] = Expiring(value: time, expires: time.advanced(by: settings.retention))
        return time
    }

    private func answer(
        _ outcome: DeviceWritten.Outcome, began: Timestamp? = nil, previous: DeviceWritten.PreviousSession? = nil
    ) -> DeviceWritten {
        DeviceWritten(outcome: outcome, time: time, began: began, previous: previous)
    }
}

// MARK: The order of sessions

extension TwinRedis {
    /// Whether the decision counts, and when its session began.
    private func verdict(
        on write: DeviceWrite, after old: DeviceRecord?
    ) -> (outcome: DeviceWritten.Outcome, began: Timestamp?) {
        let hello = min(time.advanced(by: .zero - write.age), write.hello)
        guard let old else { return (.written, write.began ?? hello) }
        if write.isOfSession(in: old) {
            if write.sequence == old.sequence { return (.done, old.began) }
            if write.sequence < old.sequence { return (.late, old.began) }
            return (.written, write.began ?? old.began)
        }
        // Two sessions that began in one millisecond: were they equal, each would take the device back.
        let began = write.began ?? (hello == old.began ? hello.advanced(by: .milliseconds(1)) : hello)
        return began < old.began ? (.replaced, nil) : (.written, began)
    }

    private func device(_ write: DeviceWrite, began: Timestamp, after old: DeviceRecord?) -> DeviceRecord {
        let stays = write.state != nil && old?.state == write.state
        return DeviceRecord(
            state: write.state, incarnation: write.incarnation, began: began, session: write.name.session,
            sequence: write.sequence, since: stays ? old?.since ?? time : time, lost: write.lost.map { min($0, time) })
    }

    /// Until when somebody was seen on the device before this write. A session that says when it was lost was there
    /// until then; another's was there until this one took over.
    private func seen(_ old: DeviceRecord?, before write: DeviceWrite) -> Timestamp? {
        old.flatMap { old in
            let lost = write.isOfSession(in: old) ? write.lost.map { min($0, time) } : nil
            return seen(old, until: lost ?? time)
        }
    }

    private func previous(
        _ old: DeviceRecord, takenOverBy write: DeviceWrite
    ) -> DeviceWritten.PreviousSession? {
        guard !write.isOfSession(in: old), old.state != nil else { return nil }
        return .init(incarnation: old.incarnation, session: "\(old.began.milliseconds)-\(old.session)")
    }
}

// MARK: The record

extension TwinRedis {
    /// How long a device that is gone still counts for the order of sessions.
    private static var goneKept: Duration { .seconds(600) }
    /// Of how many at most.
    private static var goneMost: Int { 32 }

    /// What a script finds stored; an absent record is at version 0.
    func stored(_ user: UserID) -> PresenceRecord {
        presences[user]?.read(at: time) ?? absent(user, version: 0)
    }

    /// The latest moment at which somebody was seen on the device, which was connected until `present`; `nil` if it
    /// tells of nobody. A device that is gone says itself until when.
    func seen(_ device: DeviceRecord, until present: Timestamp?) -> Timestamp? {
        switch device.state {
        case .active, .idle: device.lost ?? present
        case .background: nil
        case nil: device.lost
        }
    }

    /// Writes the user's record after one device changed, somebody having been `seen` there, and publishes it.
    mutating func store(_ device: DeviceRecord, as name: SessionName, seen: Timestamp?) {
        var record = stored(name.user)
        record.devices[name.device] = device
        record.lastSeen = [record.lastSeen, seen].latest
        record.updatedAt = time
        record.version = max(record.version + 1, time.milliseconds)
        let presence = record.asWritten
        published.append(.presence(presence, devices: record.devices.values.count { $0.state != nil }))
        for forgotten in longGone(record.devices, besides: name.device) { record.devices[forgotten] = nil }
        let expires = presence.status == .offline ? time.advanced(by: settings.retention) : nil
        presences[name.user] = Expiring(value: record, expires: expires)
    }

    /// The devices that went too long ago to count, and all but the newest of the others. What was just written stays.
    private func longGone(_ devices: [DeviceID: DeviceRecord], besides written: DeviceID) -> [DeviceID] {
        let gone = devices.filter { $0.value.state == nil && $0.key != written }
        let newestFirst = gone.sorted {
            $0.value.since == $1.value.since ? $0.key < $1.key : $0.value.since > $1.value.since
        }
        let most = Self.goneMost - (devices[written]?.state == nil ? 1 : 0)
        let keptSince = time.advanced(by: .zero - Self.goneKept)
        return newestFirst.enumerated()
            .filter { index, gone in index >= most || gone.value.since < keptSince }
            .map(\.element.key)
    }

    private func absent(_ user: UserID, version: Int64) -> PresenceRecord {
        PresenceRecord(user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: version)
    }
}

extension PresenceRecord {
    /// The presence that the hash spells out, every device written counting.
    package var asWritten: Presence {
        Presence(
            user: user, status: PresenceStatus(of: devices.values.compactMap(\.state)), lastSeen: lastSeen,
            updatedAt: updatedAt, version: version)
    }
}

extension DeviceWrite {
    fileprivate func isOfSession(in record: DeviceRecord) -> Bool { record.session == name.session }
}

extension [Timestamp?] {
    /// The latest of those moments that are known.
    fileprivate var latest: Timestamp? { compactMap { $0 }.max() }
}
