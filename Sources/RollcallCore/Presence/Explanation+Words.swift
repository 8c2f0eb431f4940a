// Puts the rule that decided a presence into words.

internal import RollcallProtocol

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
