// The script device_write, and reads of presence:{USER}.

public import RollcallProtocol

extension TwinRedis {
    /// Writes one decision of a session, if the order of sessions permits it.
    public mutating func write(_ write: DeviceWrite) -> DeviceWritten {
        guard !isTooLate(write.until) else {
            if planted.contains(.appendsWithoutWriting) {
                let status = PresenceStatus(of: [write.state].compactMap(\.self))
                append(
                    Presence(
                        user: write.name.user, status: status, lastSeen: nil, updatedAt: time,
                        version: stored(write.name.user).version + 1))
            }
            return answer(.expired)
        }
        let old = stored(write.name.user).devices[write.name.device]
        let saysItWent = write.state == nil && old?.session == write.name.session
        if !saysItWent, let issued = write.issued, let revoked = revoked(write.name.user), issued < revoked {
            var refusal = answer(.revoked)
            refusal.revokedAgo = max(hostTime ?? time, time).since(revoked)
            return refusal
        }
        let (outcome, began) = verdict(on: write, after: old)
        guard outcome == .written, let began else {
            return answer(outcome, began: began, person: stored(write.name.user).person)
        }
        let device = device(write, began: began, after: old)
        let knowsIt = old?.session == write.name.session && old?.incarnation == write.incarnation
        store(
            device, as: write.name, seen: [seen(device, until: time), seen(old, before: write)].latest,
            wentBack: write.isAfterOutage || write.began != nil && !knowsIt, reset: write.reset,
            says: (write.profile, write.issued ?? began), person: write.person)
        return answer(
            .written, began: began, person: stored(write.name.user).person,
            previous: old.flatMap { previous($0, takenOverBy: write) })
    }

    /// Reads these users' records, and the state of the incarnations that they name and that are not in `known`.
    public func presence(of users: [UserID], known: KnownWorkers) -> PresenceSnapshot {
        let records = users.map { record(of: $0).counting(known.living) }
        let strangers = known.strangers(in: records).map { ($0, standing(of: $0)) }
        let asked = records.filter { $0.person > 0 || $0.presence(past: [:]).isNeverSeen }.map(\.user)
        return PresenceSnapshot(
            records: records, standings: known.judged(Dictionary(uniqueKeysWithValues: strangers)),
            persons: Dictionary(asked.map { ($0, persons[$0]) }) { first, _ in first })
    }

    /// Reads one user's record.
    public func record(of user: UserID) -> PresenceRecord {
        presences[user]?.read(at: time) ?? absent(user, version: time.milliseconds - 1)
    }

    /// Reads the stored state of these sessions.
    public func audit(_ names: [SessionName], of incarnation: Incarnation) -> [DeviceStanding] {
        names.map {
            DeviceStanding(
                record: record(of: $0.user).devices[$0.device],
                isListed: sessions[incarnation]?.contains($0) ?? false,
                revoked: revocations[$0.user]?.read(at: time),
                person: personRevisions(of: $0.user))
        }
    }

    /// Notifies a worker.
    public mutating func announce(_ notice: WorkerNotice, to incarnation: Incarnation) {
        published.append(.notice(notice, to: incarnation))
    }

    /// Revokes the tokens issued for the user before `moment`, or before now.
    @discardableResult
    public mutating func revokeTokens(of user: UserID, issuedBefore moment: Timestamp? = nil) -> Timestamp {
        let moment = planted.contains(.revokesByRedisClock) ? time : moment ?? max(hostTime ?? time, time)
        let revoked = max(revocations[user]?.read(at: time) ?? moment, moment)
        revocations[user] = Expiring(value: revoked, expires: time.advanced(by: settings.retention))
        return revoked
    }

    /// When the user's tokens were revoked. A time that is ahead of both the host's and Redis's clock is changed to the
    /// present.
    private mutating func revoked(_ user: UserID) -> Timestamp? {
        guard let revoked = revocations[user]?.read(at: time) else { return nil }
        let present = max(hostTime ?? time, time)
        if revoked > present { revocations[user]?.value = present }
        return min(revoked, present)
    }

    private func answer(
        _ outcome: DeviceWritten.Outcome, began: Timestamp? = nil, person: Int64 = 0,
        previous: DeviceWritten.PreviousSession? = nil
    ) -> DeviceWritten {
        DeviceWritten(outcome: outcome, time: time, began: began, previous: previous, person: person)
    }
}

// MARK: The order of sessions

extension TwinRedis {
    /// Whether the decision counts, and when its session began.
    private func verdict(
        on write: DeviceWrite, after old: DeviceRecord?
    ) -> (outcome: DeviceWritten.Outcome, began: Timestamp?) {
        let opened = min(time.advanced(by: .zero - write.age), write.opened)
        guard let old else { return (.written, write.began ?? opened) }
        if write.isOfSession(in: old) {
            if write.sequence == old.sequence { return (.done, old.began) }
            if write.sequence < old.sequence { return (.late, old.began) }
            return (.written, write.began ?? old.began)
        }
        // Two sessions that began in the same millisecond must differ, or each would take the device back.
        let began = write.began ?? (opened == old.began ? opened.advanced(by: .milliseconds(1)) : opened)
        return isOlder(began, write, than: old) ? (.replaced, nil) : (.written, began)
    }

    /// Whether a session began before the stored one, even if the clock was set between the two.
    private func isOlder(_ began: Timestamp, _ write: DeviceWrite, than old: DeviceRecord) -> Bool {
        let latest = time.advanced(by: .milliseconds(1))
        if planted.contains(.ordersByClock) { return began < old.began }
        guard old.began > latest else { return min(began, latest.advanced(by: .zero - write.age)) < old.began }
        return old.began <= began.advanced(by: write.age) && began < old.began
    }

    private func device(_ write: DeviceWrite, began: Timestamp, after old: DeviceRecord?) -> DeviceRecord {
        let stays = write.state != nil && old?.state == write.state
        return DeviceRecord(
            state: write.state, incarnation: write.incarnation, began: began, session: write.name.session,
            sequence: write.sequence, since: stays ? notAhead(old?.since ?? time) : time, lost: write.lost.map(notAhead)
        )
    }

    /// Until when the user was seen on the device before this write. A session that reports when it was lost was active
    /// until then; any other session was active until this one replaced it.
    private func seen(_ old: DeviceRecord?, before write: DeviceWrite) -> Timestamp? {
        old.flatMap { old in
            let lost = write.isOfSession(in: old) ? write.lost.map(notAhead) : nil
            return seen(old, until: lost ?? time)
        }
    }

    private func previous(
        _ old: DeviceRecord, takenOverBy write: DeviceWrite
    ) -> DeviceWritten.PreviousSession? {
        guard !write.isOfSession(in: old), old.state != nil else { return nil }
        return .init(incarnation: old.incarnation, session: ByteString("\(old.began.milliseconds)-\(old.session)"))
    }
}

// MARK: The record

extension TwinRedis {
    /// How long a device that is gone still counts for the order of sessions.
    private static var goneKept: Duration { .seconds(600) }
    /// The most of these devices.
    private static var goneMost: Int { 32 }

    /// The stored record; an absent record has version 0.
    func stored(_ user: UserID) -> PresenceRecord {
        presences[user]?.read(at: time) ?? absent(user, version: 0)
    }

    /// The latest time at which the user was seen on the device, which was connected until `present`; `nil` if unknown.
    /// A device that is gone stores that time itself.
    func seen(_ device: DeviceRecord, until present: Timestamp?) -> Timestamp? {
        switch device.state {
        case .active, .idle: device.lost.map(notAhead) ?? present
        case .background: nil
        case nil: device.lost.map(notAhead)
        }
    }

    /// Writes the user's record after one device changed, with the time at which the user was `seen` there, and
    /// publishes it. A change that nobody sees writes only the device, unless there is no record, or Redis may have
    /// forgotten what others saw.
    mutating func store(
        _ device: DeviceRecord, as name: SessionName, seen: Timestamp?, wentBack: Bool = false, reset: Int64? = nil,
        isSilent: Bool = false, says: (profile: Profile, issued: Timestamp)? = nil, person: Int64 = 0
    ) {
        var record = stored(name.user)
        if record.version == 0 {
            (knownReset[name.user], named[name.user]) = (nil, nil)
            record.person = persons[name.user]?.revision ?? 0
        }
        record.person = max(record.person, person)
        if let says, !says.profile.isEmpty, says.issued >= named[name.user].map(notAhead) ?? says.issued {
            record.profile = says.profile
            named[name.user] = says.issued
        }
        let was = record.asWritten.status
        let seenBefore = record.lastSeen.map(notAhead)
        let seenNow = [seenBefore, seen].latest
        let isVisible =
            record.devices[name.device]?.tells == true || device.tells || seenNow != seenBefore || record.version == 0
            || wentBack || planted.contains(.showsBackground)
        record.devices[name.device] = device
        for forgotten in longGone(record.devices, besides: name.device) { record.devices[forgotten] = nil }
        var expires = presences[name.user]?.expires
        if isVisible {
            (record.lastSeen, record.updatedAt) = (seenNow, time)
            record.version = max(record.version + 1, time.milliseconds)
            let presence = record.asWritten
            published.append(
                .presence(
                    PresenceChange(presence, person: record.person > 0 ? record.person : nil),
                    devices: record.devices.values.count { $0.state != nil }))
            expires = presence.status == .offline ? time.advanced(by: settings.retention) : nil
            if settings.appendsEvents {
                let isNew = reset.map { $0 != knownReset[name.user] ?? 0 } ?? false
                if isNew { knownReset[name.user] = reset }
                let (was, isThere) = (was != .offline, presence.status != .offline)
                if !isSilent, was != isThere || isThere && isNew { append(presence) }
            }
        }
        presences[name.user] = Expiring(value: record, expires: expires)
    }

    /// The devices that have been gone too long, and all but the newest of the others. The device just written stays.
    private func longGone(_ devices: [DeviceID: DeviceRecord], besides written: DeviceID) -> [DeviceID] {
        let gone = devices.filter { $0.value.state == nil && $0.key != written }
        let newestFirst = gone.mapValues { notAhead($0.since) }.sorted {
            $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value
        }
        let most = Self.goneMost - (devices[written]?.state == nil ? 1 : 0)
        let keptSince = time.advanced(by: .zero - Self.goneKept)
        return newestFirst.enumerated()
            .filter { index, gone in index >= most || gone.value < keptSince }
            .map(\.element.key)
    }

    private func absent(_ user: UserID, version: Int64) -> PresenceRecord {
        PresenceRecord(user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: version)
    }
}

extension PresenceRecord {
    /// The presence in the hash, with every stored device counted.
    package var asWritten: Presence {
        Presence(
            user: user, status: PresenceStatus(of: devices.values.compactMap(\.state)), lastSeen: lastSeen,
            updatedAt: updatedAt, version: version, profile: profile)
    }
}

extension DeviceRecord {
    /// Whether the user is at the device: active or idle.
    fileprivate var tells: Bool { state == .active || state == .idle }
}

extension DeviceWrite {
    fileprivate func isOfSession(in record: DeviceRecord) -> Bool { record.session == name.session }
}

extension [Timestamp?] {
    /// The latest of the known times.
    fileprivate var latest: Timestamp? { compactMap { $0 }.max() }
}
