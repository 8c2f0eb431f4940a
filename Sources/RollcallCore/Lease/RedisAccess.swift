// What Redis can do for a worker at this moment. A Redis that answers but refuses writes is a separate case: nothing
// can be written, but everything can still be read.

internal import RollcallModel

/// What a shard can do with Redis, as far as the worker's heartbeats show.
enum RedisAccess: Hashable, Sendable {
    /// Redis is unreachable, or the lease was lost. Nothing is read or written before the next lease begins.
    case unavailable
    /// Redis answers reads and refuses writes. The lease of this incarnation may still be renewed; `nil` if there is
    /// none.
    case readOnly(Incarnation?)
    /// The worker holds a lease and writes under this incarnation until this moment, by Redis time.
    case writable(Incarnation, until: Timestamp)

    /// The incarnation under which sessions are written; `nil` while nothing can be written.
    var incarnation: Incarnation? {
        if case .writable(let incarnation, _) = self { incarnation } else { nil }
    }

    var answersReads: Bool { self != .unavailable }

    var refusesWrites: Bool {
        if case .readOnly = self { true } else { false }
    }

    /// Handles a renewed lease.
    ///
    /// - Returns: whether Redis refused writes until now.
    mutating func renewed(until: Timestamp) -> Bool {
        switch self {
        case .writable(let incarnation, _):
            self = .writable(incarnation, until: until)
            return false
        case .readOnly(let incarnation?):
            self = .writable(incarnation, until: until)
            return true
        case .readOnly(nil), .unavailable:
            return false
        }
    }

    /// Handles heartbeats that Redis refused because it accepts no writes.
    ///
    /// - Returns: whether Redis was ``unavailable`` until now.
    mutating func refusedWrites() -> Bool {
        switch self {
        case .writable(let incarnation, _):
            self = .readOnly(incarnation)
            return false
        case .readOnly:
            return false
        case .unavailable:
            self = .readOnly(nil)
            return true
        }
    }
}
