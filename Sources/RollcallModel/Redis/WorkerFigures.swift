// How much a worker does, as it says with each heartbeat: so whoever asks one worker learns it of all.

/// What a worker says of its work in `{workers}:INCARNATION`. A worker of an older version does not say it.
public struct WorkerFigures: Hashable, Sendable {
    /// Typing signals that clients sent, stops among them, since the worker started.
    public var signals: Int64?
    /// Typing signals and stops that Redis took and published.
    public var published: Int64?
    /// Messages handed to sessions, of every type.
    public var delivered: Int64?
    /// How long the heartbeat before took, in microseconds.
    public var roundTripMicroseconds: Int64?
    /// Processor time that the process has used.
    public var cpuMilliseconds: Int64?

    public init() {}

    /// Each with the name of its field.
    package static let fields: [(name: String, value: any WritableKeyPath<WorkerFigures, Int64?> & Sendable)] = [
        ("signals", \.signals), ("published", \.published), ("delivered", \.delivered),
        ("round_trip_us", \.roundTripMicroseconds), ("cpu_ms", \.cpuMilliseconds),
    ]
}
