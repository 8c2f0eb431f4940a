// All readings of a Redis in one value, which tests can construct.

import RollcallModel
import RollcallRedis

/// The readings of a Redis.
struct RedisReadings: Sendable {
    /// A command that blocked all others.
    struct SlowCommand: Hashable, Sendable {
        /// Only the command's name: its arguments may name users.
        var name: String
        var took: Duration
        var ago: Duration
    }

    /// The difference between another host's clock and this one's.
    struct Clock: Hashable, Sendable {
        /// How far ahead the other clock is; negative if it is behind.
        var ahead: Duration
        /// The possible error: half of the round trip.
        var uncertainty: Duration
    }

    /// An incarnation's lease end and its heartbeat data.
    struct Worker: Hashable, Sendable {
        var incarnation: String
        var leaseEnd: Timestamp
        var facts: [String: String]
    }

    /// The name of the Redis user.
    var user: String
    var info: Reading<RedisInfo>
    /// Whether it is a replica.
    var refusesWrites: Bool
    /// The results of `CONFIG GET`, by name.
    var settings: Reading<[String: String]>
    /// The rights that a worker would lack.
    var shortfall: Reading<Shortfall>
    var roundTrips: Reading<[Duration]>
    /// The entries of Redis's slow log.
    var slowCommands: Reading<[SlowCommand]>
    var clock: Reading<Clock>
    /// The clocks of its replicas, by address.
    var replicaClocks: [String: Reading<Clock>]
    /// Redis's time when the workers were read.
    var time: Timestamp
    var workers: Reading<[Worker]>
    var keys: Reading<KeySample>
    /// The other databases with live workers of the same names.
    var neighbours: Reading<[Int]>
}
