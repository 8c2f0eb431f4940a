// What Redis contains about one worker or one user, for operators: not only the result, but also the data from which it
// was derived.

/// What one incarnation reports about itself, and its lease.
public struct WorkerReport: Hashable, Sendable {
    public var incarnation: Incarnation
    /// `nil` if the incarnation has no lease, because it was swept and removed.
    public var leaseEnd: Timestamp?
    public var host: ByteString?
    public var pid: Int64?
    /// The URL at which devices reach the worker.
    public var edge: ByteString?
    public var startedAt: Timestamp?
    public var sessions: Int64?
    /// The time of the last heartbeat.
    public var beat: Timestamp?
    /// The version of the worker's software.
    public var version: ByteString?
    public var isDraining = false
    /// Whether the worker appends to the stream of events.
    public var appendsEvents = false
    /// Its rules of who may join and ask, as workers compare them.
    public var access: ByteString?
    public var figures = WorkerFigures()

    public init(incarnation: Incarnation, leaseEnd: Timestamp?) {
        self.incarnation = incarnation
        self.leaseEnd = leaseEnd
    }

    public func standing(at time: Timestamp) -> WorkerStanding {
        WorkerStanding(time: time, leaseEnd: leaseEnd, beat: beat)
    }
}

/// Workers, as one read returned them.
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
    /// The status that the record contains; `nil` if there is no record.
    public var storedStatus: ByteString?
    /// The workers that the record names, and the reader.
    public var workers: WorkersReport
    /// When the user's tokens were last revoked, if that still applies.
    public var revoked: Timestamp?
    /// Which conversations each device has open, if that was asked.
    public var open: [DeviceID: [ConversationID]] = [:]

    public init(record: PresenceRecord, storedStatus: ByteString?, workers: WorkersReport, revoked: Timestamp?) {
        self.record = record
        self.storedStatus = storedStatus
        self.workers = workers
        self.revoked = revoked
    }

    /// When all of this was read.
    public var time: Timestamp { workers.time }

    /// The devices that are not gone, sorted by name.
    public var present: [(device: DeviceID, record: DeviceRecord)] {
        record.devices.filter { $0.value.state != nil }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

// MARK: Figures

// A worker's figures, which it writes with each heartbeat, so that any worker can report the figures of all.

/// The figures in `{workers}:INCARNATION`.
public struct WorkerFigures: Hashable, Sendable {
    /// The number of typing signals from clients since the worker started, including stops.
    public var signals: Int64?
    /// The number of typing signals and stops that Redis accepted and published.
    public var published: Int64?
    /// The number of messages sent to sessions, of every type.
    public var delivered: Int64?
    /// The duration of the previous heartbeat, in microseconds.
    public var roundTripMicroseconds: Int64?
    /// The processor time used by the process, in milliseconds.
    public var cpuMilliseconds: Int64?

    public init() {}

    /// The figures with the names of their fields.
    package static let fields: [(name: String, value: any WritableKeyPath<WorkerFigures, Int64?> & Sendable)] = [
        ("signals", \.signals), ("published", \.published), ("delivered", \.delivered),
        ("round_trip_us", \.roundTripMicroseconds), ("cpu_ms", \.cpuMilliseconds),
    ]
}
