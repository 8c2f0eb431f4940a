// Leases: a worker's expiring claim to be alive, and the leases of other workers.

public import RollcallProtocol

/// A worker's heartbeat, with data about the worker for operators.
public struct Heartbeat: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// The first heartbeat of an incarnation; refused if the incarnation already exists.
        case begin
        /// A renewal; refused if the lease has expired.
        case renew
        /// The last heartbeat: the lease ends this long from now.
        case end(after: Duration)
    }

    public var mode: Mode
    public var incarnation: Incarnation
    public var lease: Duration
    public var host: String
    public var pid: Int32
    /// The address at which devices reach the worker.
    public var edge: String
    public var startedAt: Timestamp
    public var sessions: Int
    /// The software version.
    public var version: String
    /// Whether the worker is about to stop, so that no devices are sent to it.
    public var isDraining = false
    /// Whether the worker appends to the stream of events.
    public var appendsEvents = false
    /// Who may join and ask, for workers to compare; empty: unknown.
    public var access = ""
    public var figures = WorkerFigures()

    public init(
        mode: Mode, incarnation: Incarnation, lease: Duration, host: String, pid: Int32, edge: String,
        startedAt: Timestamp, sessions: Int, version: String
    ) {
        self.mode = mode
        self.incarnation = incarnation
        self.lease = lease
        self.host = host
        self.pid = pid
        self.edge = edge
        self.startedAt = startedAt
        self.sessions = sessions
        self.version = version
    }

    /// The format of everything that an incarnation writes.
    package static let format: Int64 = 1

    /// The fields of the hash `{workers}:INCARNATION`, except `beat`.
    fileprivate var fields: [RedisCommand.Argument] {
        [
            "host", .string(host), "pid", .integer(Int64(pid)), "edge", .string(edge), "started_at", .time(startedAt),
            "sessions", .integer(Int64(sessions)), "version", .string(version), "format", .integer(Self.format),
        ] + (isDraining ? ["draining", 1] : []) + (appendsEvents ? ["events", 1] : [])
            + (access.isEmpty ? [] : ["access", .string(access)]) + figureFields
    }

    private var figureFields: [RedisCommand.Argument] {
        WorkerFigures.fields.flatMap { field -> [RedisCommand.Argument] in
            figures[keyPath: field.value].map { [.string(field.name), .integer($0)] } ?? []
        }
    }
}

/// What other workers need to know of a worker before they send devices to it.
public struct WorkerCard: Hashable, Sendable {
    /// The address at which devices reach the worker.
    public var edge: ByteString
    public var isDraining: Bool
    public var sessions: Int

    public init(edge: ByteString, isDraining: Bool, sessions: Int = 0) {
        self.edge = edge
        self.isDraining = isDraining
        self.sessions = sessions
    }
}

extension Store {
    /// Claims, renews or ends a lease, and reads all leases.
    public func heartbeat(_ beat: Heartbeat, reply: @escaping Reply<LeaseSnapshot>) {
        let (mode, lease): (String, Duration) =
            switch beat.mode {
            case .begin: ("begin", beat.lease)
            case .renew: ("renew", beat.lease)
            case .end(let after): ("end", after)
            }
        let events = settings.keptEvents == nil ? [] : [names.events, names.eventsState]
        var beat = beat
        beat.appendsEvents = !events.isEmpty
        call(
            .heartbeat, keys: [names.workers, names.worker(beat.incarnation)] + events,
            arguments: [.string(mode), .string(beat.incarnation.name.string), .milliseconds(lease)] + beat.fields,
            reply: reply, read: LeaseSnapshot.init)
    }

    /// Reads the addresses of these workers in one pipeline; workers without one are left out.
    public func cards(of incarnations: [Incarnation], reply: @escaping Reply<[WorkerCard]>) {
        let gathering = Gathering<RedisValue>(incarnations.count) { reply($0.map { $0.compactMap(WorkerCard.init) }) }
        for (index, incarnation) in incarnations.enumerated() {
            let command = RedisCommand("HMGET", .string(names.worker(incarnation)), "edge", "draining", "sessions")
            commands.send(command, reply: gathering.part(index))
        }
    }

    /// The message of a worker to itself, from which it learns whether all of its connections lead to one Redis.
    package static let beat = #"{"beat":true}"#

    /// Sends it. Redis answers after it has sent the message to all subscribers.
    public func publishBeat(of incarnation: Incarnation, reply: @escaping Reply<Void>) {
        commands.publish(Self.beat, on: names.channel(of: .worker(incarnation))) { reply($0.map { _ in }) }
    }

    /// Looks whether this connection sees a lease that ends at this time or later. An error says nothing: `found` is
    /// then not called.
    package func look(for incarnation: Incarnation, until end: Timestamp, found: @escaping (Bool) -> Void) {
        let command = RedisCommand("ZSCORE", .string(names.workers), .string(incarnation.name.string))
        commands.send(command) { if case .success(let value) = $0 { found(value.time.map { $0 >= end } ?? false) } }
    }

    /// Looks up an incarnation that no heartbeat has returned, or one that is to be swept.
    public func standing(of incarnation: Incarnation, reply: @escaping Reply<WorkerStanding>) {
        call(
            .workerRead, keys: [names.workers, names.worker(incarnation)],
            arguments: [.string(incarnation.name.string)],
            reply: reply, read: WorkerStanding.init)
    }

    /// Deletes an incarnation whose sessions have been swept.
    ///
    /// - Parameter reply: `false` if its lease has not expired.
    public func forget(_ incarnation: Incarnation, reply: @escaping Reply<Bool>) {
        call(
            .workerForget, keys: [names.workers, names.worker(incarnation)],
            arguments: [.string(incarnation.name.string)],
            reply: reply
        ) { $0.integer.map { $0 == 1 } }
    }
}

extension LeaseSnapshot {
    fileprivate init?(_ value: RedisValue) {
        guard let parts = value.array, parts.count >= 4, let held = parts[0].integer, let time = parts[1].time,
            let reset = parts[2].integer, let refused = parts[3].readable
        else { return nil }
        var leases: [Incarnation: Timestamp] = [:]
        for index in stride(from: 4, to: parts.count - 1, by: 2) {
            // Members that are not a name with a time are foreign and ignored.
            guard let name = parts[index].text, let end = parts[index + 1].time else { continue }
            leases[Incarnation(name: name)] = end
        }
        self.init(
            held: held == 1, time: time, leases: leases, reset: reset, eventsRefused: refused.isEmpty ? nil : refused)
    }
}

extension WorkerCard {
    /// Decodes the reply to `HMGET edge draining sessions`.
    fileprivate init?(_ value: RedisValue) {
        guard let fields = value.array, fields.count == 3, let edge = fields[0].text else { return nil }
        self.init(edge: edge, isDraining: !fields[1].isNull, sessions: Int(max(0, fields[2].integer ?? 0)))
    }
}

extension WorkerStanding {
    fileprivate init?(_ value: RedisValue) {
        guard let parts = value.array, parts.count == 3, let time = parts[0].time else { return nil }
        self.init(time: time, leaseEnd: parts[1].time, beat: parts[2].time)
    }
}
