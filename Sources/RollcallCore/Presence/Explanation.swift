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

extension Explanation {
    /// - Parameter presence: what readers see.
    init(
        _ report: UserReport, shown: ShownPresence, _ standings: [Incarnation: WorkerStanding],
        isSettling: Bool, grace: Duration
    ) {
        let devices = report.record.devices.map { device, record in
            let worker = report.workers.workers.first { $0.incarnation == record.incarnation }
            return Device(
                device: device, record: record,
                standing: .init(
                    record, isDead: standings[record.incarnation]?.isDead == true, isSettling: isSettling),
                worker: worker ?? WorkerReport(incarnation: record.incarnation, leaseEnd: nil))
        }
        let sorted = devices.sorted {
            ($0.standing == .gone ? 1 : 0, $0.device) < ($1.standing == .gone ? 1 : 0, $1.device)
        }
        self.init(
            presence: shown.presence, report: report, devices: sorted,
            rule: .init(that: shown.presence, comesOf: sorted, isStored: report.storedStatus != nil), grace: grace)
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

// MARK: Words

extension Explanation {
    /// Describes the rule in one sentence that names devices, workers and times.
    public var sentence: String { "\(presence.status.rawValue): \(reason)" }

    private var reason: String {
        switch rule {
        case .active, .idle: decided { "is \($0.state) on \($0.worker.incarnation)" }
        case .activeInGrace, .idleInGrace:
            decided {
                "was \($0.state) when its connection was lost \(ago($0.record.lost)) ago, and counts for \(left($0))"
            }
        case .background: "every device is in the background: \(list(devices.filter(\.standing.counts)))"
        case .ownerDead: ownersDead(devices.filter { $0.standing == .ownerDead })
        case .gone: devices.isEmpty ? "no device is there" : "every device has left; \(lastOne) was the last"
        case .neverSeen: "nothing is known of this user"
        case .held: "Redis was away, and what was shown before stays until every worker has said again what it holds"
        }
    }

    /// Applies `predicate` to the first device that decided, and counts the others.
    private func decided(_ predicate: (Device) -> String) -> String {
        let deciding = devices.filter {
            $0.record.state == presence.status.deciding && $0.standing.counts
                && ($0.record.lost == nil || rule == .activeInGrace || rule == .idleInGrace)
        }
        guard let first = deciding.first else { return "a device says so" }
        let others = deciding.count - 1
        return "\(first.device) \(predicate(first))" + (others > 0 ? ", and \(others) more" : "")
    }

    private func ownersDead(_ devices: [Device]) -> String {
        guard let first = devices.first else { return "" }
        let subject = devices.count == 1 ? "the only device" : "every device"
        let owners = Set(devices.map(\.worker.incarnation))
        guard owners.count == 1 else {
            return "\(subject) is owned by a worker whose lease has passed; they will be swept"
        }
        let passed = first.worker.leaseEnd.map { "whose lease passed \(ago($0)) ago" } ?? "which is forgotten"
        return "\(subject) is owned by \(first.worker.incarnation), \(passed); it will be swept"
    }

    private func list(_ devices: [Device]) -> String {
        let names = devices.prefix(3).map { "\($0.device)" }.joined(separator: ", ")
        return devices.count > 3 ? "\(names) and \(devices.count - 3) more" : names
    }

    private var lastOne: String {
        devices.max { $0.record.since < $1.record.since }.map { "\($0.device), \(ago($0.record.since)) ago," } ?? ""
    }

    private func ago(_ moment: Timestamp?) -> String {
        moment.map { report.time.since($0).spoken } ?? "some time"
    }

    private func left(_ device: Device) -> String {
        guard let lost = device.record.lost else { return "a while" }
        return "\(lost.advanced(by: grace).since(report.time).spoken) more"
    }
}

extension Explanation.Device {
    fileprivate var state: String { record.state?.rawValue ?? "gone" }
}
