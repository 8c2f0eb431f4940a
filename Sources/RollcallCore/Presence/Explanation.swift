// Explains why a user has a status: each device, the worker that holds it, and the rule that decided. Support staff can
// use it to answer why a user is shown as online or offline.

public import RollcallProtocol

/// A user's presence as this worker shows it, and the reasons for it.
public struct Explanation: Hashable, Sendable {
    /// The rule that decided. The codes are stable: programs match on them.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        case active
        case activeInGrace = "active_in_grace"
        case idle
        case idleInGrace = "idle_in_grace"
        /// Every device that counts is in the background.
        case background
        /// Every device belongs to a worker whose lease has expired.
        case ownerDead = "owner_dead"
        /// Every device has left.
        case gone
        case neverSeen = "never_seen"
        /// Redis was away. The previous presence stays until all workers have had time to write their sessions again.
        case held
    }

    /// How a device counts.
    public enum Standing: String, Hashable, Sendable, CaseIterable {
        case connected
        /// The connection is lost. The device counts until its grace period ends.
        case inGrace = "in_grace"
        /// The device does not count: its worker's lease has expired.
        case ownerDead = "owner_dead"
        /// The worker's lease has expired, but Redis was away, so the device still counts for now.
        case unsettled
        case gone
    }

    public struct Device: Hashable, Sendable {
        public var device: DeviceID
        public var record: DeviceRecord
        public var standing: Standing
        public var worker: WorkerReport
    }

    public var presence: Presence
    public var report: UserReport
    /// Sorted by name; devices that have left come last.
    public var devices: [Device]
    public var rule: Rule
    /// The configured `presence.grace`.
    public var grace: Duration
}

extension Shard {
    /// Explains the presence that readers see of a user.
    public func explanation(of report: UserReport, at now: Instant) -> Explanation {
        let standings = redis.known(at: now).judged(report.workers.standings)
        let reading = reading(of: report.record, standings)
        let devices = report.record.devices.map { device, record in
            let worker = report.workers.workers.first { $0.incarnation == record.incarnation }
            return Explanation.Device(
                device: device, record: record,
                standing: .init(
                    record, isDead: standings[record.incarnation]?.isDead == true,
                    isSettling: redis.judgement.isSettling),
                worker: worker ?? WorkerReport(incarnation: record.incarnation, leaseEnd: nil))
        }
        let sorted = devices.sorted {
            ($0.standing == .gone ? 1 : 0, $0.device) < ($1.standing == .gone ? 1 : 0, $1.device)
        }
        return Explanation(
            presence: reading.presence, report: report, devices: sorted,
            rule: .init(that: reading.presence, comesOf: sorted, isStored: report.storedStatus != nil),
            grace: settings.grace)
    }
}

extension Explanation.Standing {
    /// Whether the device counts in its user's presence.
    var counts: Bool {
        switch self {
        case .connected, .inGrace, .unsettled: true
        case .ownerDead, .gone: false
        }
    }

    fileprivate init(_ record: DeviceRecord, isDead: Bool, isSettling: Bool) {
        self =
            if record.state == nil { .gone } else if isDead { isSettling ? .unsettled : .ownerDead } else {
                record.lost == nil ? .connected : .inGrace
            }
    }
}

extension Explanation.Rule {
    fileprivate init(that presence: Presence, comesOf devices: [Explanation.Device], isStored: Bool) {
        let counting = devices.filter(\.standing.counts)
        let status = PresenceStatus(of: counting.compactMap(\.record.state))
        let isConnected = counting.contains { $0.record.state == status.deciding && $0.record.lost == nil }
        self =
            switch status {
            case _ where status != presence.status: .held
            case .online: isConnected ? .active : .activeInGrace
            case .away: isConnected ? .idle : .idleInGrace
            case .offline where !counting.isEmpty: .background
            case .offline where devices.contains { $0.standing == .ownerDead }: .ownerDead
            case .offline: isStored ? .gone : .neverSeen
            }
    }
}

extension PresenceStatus {
    /// The device state that results in this status.
    var deciding: DeviceState {
        switch self {
        case .online: .active
        case .away: .idle
        case .offline: .background
        }
    }
}
