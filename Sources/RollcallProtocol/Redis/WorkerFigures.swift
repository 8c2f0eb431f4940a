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
