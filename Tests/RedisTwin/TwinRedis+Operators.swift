// The script user_erase, which operators use.

public import RollcallProtocol

extension TwinRedis {
    /// Erases a user's record and person.
    ///
    /// - Returns: `false` if a session is left on an incarnation that is not dead; then nothing is erased.
    public mutating func erase(_ user: UserID, dead: Set<Incarnation>) -> Bool {
        let record = stored(user)
        guard record.devices.values.allSatisfy({ $0.state == nil || dead.contains($0.incarnation) }) else {
            return false
        }
        presences[user] = nil
        let version = max(record.version + 1, time.milliseconds)
        let presence = Presence(user: user, status: .offline, lastSeen: nil, updatedAt: time, version: version)
        persons[user] = nil
        published.append(.presence(PresenceChange(presence, person: 0), devices: 0))
        (knownReset[user], named[user]) = (nil, nil)
        if settings.appendsEvents {
            if record.asWritten.status != .offline { append(presence) }
            eraseEvents(of: user)
        }
        return true
    }
}
