// What stands in Redis about one worker, or one user, as an operator wants to see it: beside what is decided of it, what
// it is decided from.

/// What one incarnation says of itself, and what is known of its lease.
public struct WorkerReport: Hashable, Sendable {
    public var incarnation: Incarnation
    /// `nil` if the incarnation has no lease: it was swept and forgotten.
    public var leaseEnd: Timestamp?
    public var host: String?
    public var pid: Int64?
    /// Where devices reach it.
    public var edge: String?
    public var startedAt: Timestamp?
    public var sessions: Int64?
    /// The time of its last heartbeat.
    public var beat: Timestamp?
    /// The version of its software.
    public var version: String?
    public var isDraining = false
    public var figures = WorkerFigures()

    public init(incarnation: Incarnation, leaseEnd: Timestamp?) {
        self.incarnation = incarnation
        self.leaseEnd = leaseEnd
    }

    public func standing(at time: Timestamp) -> WorkerStanding {
        WorkerStanding(time: time, leaseEnd: leaseEnd, beat: beat)
    }
}

/// Workers as one read found them.
public struct WorkersReport: Hashable, Sendable {
    public var time: Timestamp
    public var workers: [WorkerReport]

    public init(time: Timestamp, workers: [WorkerReport]) {
        self.time = time
        self.workers = workers
    }

    public var standings: [Incarnation: WorkerStanding] {
        Dictionary(workers.map { ($0.incarnation, $0.standing(at: time)) }) { first, _ in first }
    }
}

/// A user's record, and the workers that it names.
public struct UserReport: Hashable, Sendable {
    public var record: PresenceRecord
    /// The status that the record spells out; `nil` if there is no record.
    public var storedStatus: String?
    /// Of whom the record names, and of the reader.
    public var workers: WorkersReport
    /// When the user's tokens were revoked last, if that counts still.
    public var revoked: Timestamp?

    public init(record: PresenceRecord, storedStatus: String?, workers: WorkersReport, revoked: Timestamp?) {
        self.record = record
        self.storedStatus = storedStatus
        self.workers = workers
        self.revoked = revoked
    }

    /// When all of it was read.
    public var time: Timestamp { workers.time }

    /// The devices, by name, that are not gone.
    public var present: [(device: DeviceID, record: DeviceRecord)] {
        record.devices.filter { $0.value.state != nil }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
