// All that is read of a Redis before anything is thought of it, as one value that a test can make up.

import RollcallModel
import RollcallRedis

/// What was read of a Redis.
struct RedisReadings: Sendable {
    /// A command that kept all others waiting.
    struct SlowCommand: Hashable, Sendable {
        /// Its name alone: what it was given may name people.
        var name: String
        var took: Duration
        var ago: Duration
    }

    /// The clock of another host against this one's.
    struct Clock: Hashable, Sendable {
        /// How far ahead it is; negative if it is behind.
        var ahead: Duration
        /// How far that may be off: half of the way there and back.
        var uncertainty: Duration
    }

    /// The end of an incarnation's lease, and what it says of itself.
    struct Worker: Hashable, Sendable {
        var incarnation: String
        var leaseEnd: Timestamp
        var facts: [String: String]
    }

    /// The user by whom Redis knows us.
    var user: String
    var info: Reading<RedisInfo>
    /// Whether it is a replica.
    var refusesWrites: Bool
    /// What `CONFIG GET` says, by name.
    var settings: Reading<[String: String]>
    /// What a worker would miss.
    var shortfall: Reading<Shortfall>
    var roundTrips: Reading<[Duration]>
    /// Those in Redis's log of slow commands.
    var slowCommands: Reading<[SlowCommand]>
    var clock: Reading<Clock>
    /// The clocks of its replicas, by where they are.
    var replicaClocks: [String: Reading<Clock>]
    /// Redis's time when the workers were read.
    var time: Timestamp
    var workers: Reading<[Worker]>
    var keys: Reading<KeySample>
    /// The other databases in which there are workers with the same names.
    var neighbours: Reading<[Int]>
}
