// Users whose devices another worker holds.

import RedisTwin
import RollcallProtocol

@testable import RollcallCore

/// A record with one device, of another worker.
func elsewhere(
    _ user: UserID, _ time: Timestamp, state: DeviceState? = .active, of worker: Incarnation = w2
) -> PresenceRecord {
    PresenceRecord(
        user: user, devices: ["tv": device(state, of: worker, time)], lastSeen: time, updatedAt: time,
        version: time.milliseconds)
}

func device(_ state: DeviceState?, of incarnation: Incarnation, _ time: Timestamp) -> DeviceRecord {
    DeviceRecord(
        state: state, incarnation: incarnation, began: time, session: SessionID(random: "x"), sequence: 1, since: time,
        lost: nil)
}

extension Stage {
    /// Bob comes and watches alice, whose device a worker holds with this much of its lease left, as the last heartbeat
    /// knows; he has been told.
    func bobWatchesAlice(elsewhereFor lease: Duration) -> Session {
        let bob = enter("bob")
        redis.records["alice"] = elsewhere("alice", redis.time)
        others = [w2: redis.time.advanced(by: lease)]
        heartbeat()
        say(.watch(["alice"]), on: bob)
        settle()
        return bob
    }

    /// The other worker dies, holding an active device of this user beside what stands already; nobody has swept it.
    func diesHolding(_ user: UserID) {
        var record = redis.record(of: user)
        record.devices["tv"] = device(.active, of: w2, redis.time)
        record.version += 1
        record.updatedAt = redis.time
        redis.records[user] = record
        others = [w2: redis.time.advanced(by: .milliseconds(-1))]
        heartbeat()
        settle()
        forgetWhatWasSaid()
    }
}
