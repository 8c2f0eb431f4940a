// Reports of the admin port, which the command line also reads.

internal import RollcallCore
package import RollcallProtocol

/// One worker, from its heartbeat and its lease.
package struct AdminWorker: Codable, Sendable {
    package var incarnation: ByteString
    /// Whether the lease is current.
    package var alive: Bool
    /// Whether the worker is draining.
    package var draining: Bool
    package var leaseEnd: Timestamp?
    package var host: ByteString?
    package var pid: Int64?
    package var edge: ByteString?
    package var startedAt: Timestamp?
    package var sessions: Int64?
    package var beat: Timestamp?
    package var version: ByteString?
    /// Typing signals received from clients since the worker started.
    package var signals: Int64?
    /// Typing signals and stops that Redis accepted and published.
    package var published: Int64?
    /// Messages of all types sent to sessions.
    package var delivered: Int64?
    /// How long the previous heartbeat took, in microseconds.
    package var roundTrip: Int64?
    /// CPU time used by the process, in milliseconds.
    package var cpu: Int64?

    enum CodingKeys: String, CodingKey {
        case incarnation, alive, draining
        case leaseEnd = "lease_end"
        case host, pid, edge
        case startedAt = "started_at"
        case sessions, beat, version, signals, published, delivered
        case roundTrip = "round_trip_us"
        case cpu = "cpu_ms"
    }

    init(_ report: WorkerReport, at time: Timestamp) {
        incarnation = report.incarnation.name
        alive = !report.standing(at: time).isDead
        draining = report.isDraining
        (leaseEnd, host, pid, edge) = (report.leaseEnd, report.host, report.pid, report.edge)
        (startedAt, sessions, beat, version) = (report.startedAt, report.sessions, report.beat, report.version)
        let figures = report.figures
        (signals, published, delivered) = (figures.signals, figures.published, figures.delivered)
        (roundTrip, cpu) = (figures.roundTripMicroseconds, figures.cpuMilliseconds)
    }
}

/// All workers, live ones first.
package struct AdminWorkers: Codable, Sendable {
    package var time: Timestamp
    package var workers: [AdminWorker]

    init(_ report: WorkersReport) {
        time = report.time
        workers = report.workers.map { AdminWorker($0, at: report.time) }.sorted {
            ($0.alive ? 0 : 1, $0.incarnation) < ($1.alive ? 0 : 1, $1.incarnation)
        }
    }
}

/// Why a user's presence is what it is.
package struct AdminUser: Codable, Sendable {
    /// The rule that decided: a stable code, and a sentence for people.
    package struct Rule: Codable, Sendable {
        package var code: String
        package var text: String
    }

    package struct Device: Codable, Sendable {
        package var device: DeviceID
        /// `active`, `idle`, `background` or `gone`.
        package var state: String
        /// How the device counts: `connected`, `in_grace`, `owner_dead`, `unsettled` or `gone`.
        package var standing: String
        package var since: Timestamp
        /// When the device's connection was lost; for a device that is gone, when it was last active.
        package var lost: Timestamp?
        /// When a device in grace stops counting.
        package var countsUntil: Timestamp?
        /// The session as stored: `MS-RANDOM`.
        package var session: String
        package var sequence: Int64
        /// The conversations that it has open.
        package var open: [ConversationID]
        package var worker: AdminWorker

        enum CodingKeys: String, CodingKey {
            case device, state, standing, since, lost
            case countsUntil = "counts_until"
            case session, sequence, open, worker
        }
    }

    package var presence: Presence
    package var time: Timestamp
    package var rule: Rule
    /// How much another user sees, and why; absent unless that was asked.
    package var viewer: Rule?
    /// The stored status, which still includes devices of dead workers; absent without a record.
    package var stored: ByteString?
    /// When the user's tokens were last revoked.
    package var revoked: Timestamp?
    package var devices: [Device]
    /// The conversations in which servers say that the user is here.
    package var shown: [ConversationID]

    enum CodingKeys: String, CodingKey {
        case time, rule, stored, revoked, devices
        case viewer = "as"
        case shown = "shown_by_servers"
    }

    init(_ explanation: Explanation) {
        presence = explanation.presence
        time = explanation.report.time
        rule = Rule(code: explanation.rule.rawValue, text: explanation.sentence)
        stored = explanation.report.storedStatus
        revoked = explanation.report.revoked
        devices = explanation.devices.map { Device($0, of: explanation) }
        shown = explanation.report.open.filter(\.key.isOfServer).values.joined().sorted()
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        presence = try Presence(from: decoder)
        time = try fields.decode(Timestamp.self, forKey: .time)
        rule = try fields.decode(Rule.self, forKey: .rule)
        viewer = try fields.decodeIfPresent(Rule.self, forKey: .viewer)
        stored = try fields.decodeIfPresent(ByteString.self, forKey: .stored)
        revoked = try fields.decodeIfPresent(Timestamp.self, forKey: .revoked)
        devices = try fields.decode([Device].self, forKey: .devices)
        shown = try fields.decode([ConversationID].self, forKey: .shown)
    }

    package func encode(to encoder: any Encoder) throws {
        try presence.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(rule, forKey: .rule)
        try fields.encodeIfPresent(viewer, forKey: .viewer)
        try fields.encodeIfPresent(stored, forKey: .stored)
        try fields.encodeIfPresent(revoked, forKey: .revoked)
        try fields.encode(devices, forKey: .devices)
        try fields.encode(shown, forKey: .shown)
    }
}

extension AdminUser.Device {
    fileprivate init(_ device: Explanation.Device, of explanation: Explanation) {
        let (record, report) = (device.record, explanation.report)
        self.init(
            device: device.device, state: record.state?.rawValue ?? "gone", standing: device.standing.rawValue,
            since: record.since, lost: record.lost,
            countsUntil: device.standing == .inGrace ? record.lost?.advanced(by: explanation.grace) : nil,
            session: "\(record.began.milliseconds)-\(record.session)", sequence: record.sequence,
            open: report.open[device.device] ?? [], worker: AdminWorker(device.worker, at: report.time))
    }
}
