// The admin port's answers as text.

import RollcallModel
import RollcallWorker

extension AdminWorker {
    /// The state of the worker's lease.
    func lease(at time: Timestamp) -> String {
        guard let leaseEnd else { return "swept and deleted" }
        if alive { return "\(draining ? "draining, " : "")lease ends in \(leaseEnd.since(time).spoken)" }
        return "lease passed \(time.since(leaseEnd).spoken) ago"
    }

    /// Where the worker runs.
    var place: String {
        [host, pid.map { "pid \($0)" }, edge].compactMap { $0 }.joined(separator: ", ")
    }
}

extension AdminWorkers {
    var lines: [String] {
        Columns.lines(
            workers.map { worker in
                [
                    worker.incarnation, worker.alive ? "alive" : "dead", worker.lease(at: time),
                    worker.sessions.map { $0 == 1 ? "1 session" : "\($0) sessions" } ?? "",
                    worker.startedAt.map { "up \(time.since($0).spoken)" } ?? "",
                    worker.version.map { "version \($0)" } ?? "", worker.place,
                ]
            })
    }
}

extension AdminUser {
    var lines: [String] {
        var lines = [Shown.text("\(presence.user) is \(rule.text)"), ""]
        if !devices.isEmpty {
            lines += Columns.lines(devices.map { $0.cells(at: time) }).map { "  " + $0 }
            lines.append("")
        }
        lines += Columns.lines(facts).map { "  " + $0 }
        return lines
    }

    private var facts: [[String]] {
        var facts = [
            ["shown", presence.status.rawValue], ["stored", stored ?? "no record"],
            ["last seen", seen], ["version", "\(presence.version)"], ["rule", rule.code],
        ]
        if let revoked { facts.append(["tokens", "revoked \(time.since(revoked).spoken) ago"]) }
        return facts
    }

    private var seen: String {
        if presence.status != .offline { return "now" }
        return presence.lastSeen.map { "\(time.since($0).spoken) ago" } ?? "never"
    }
}

extension AdminUser.Device {
    fileprivate func cells(at time: Timestamp) -> [String] {
        [device.text, state, standingText(at: time), "since \(time.since(since).spoken)", worker.incarnation]
            + (state == "gone" ? [] : [worker.lease(at: time), worker.place])
    }

    private func standingText(at time: Timestamp) -> String {
        switch standing {
        case "in_grace": "in grace, lost \(lost.map { time.since($0).spoken } ?? "some time") ago"
        case "owner_dead": "its worker is dead"
        case "unsettled": "its worker may be dead"
        case "gone": ""
        default: standing
        }
    }
}

extension SentAway {
    /// Returns the result of sending `user` away.
    func lines(_ user: UserID) -> [String] {
        if sentAway.isEmpty, unreached.isEmpty { return ["\(user) has no session"] }
        return sentAway.map { Shown.text("\(user)'s session on \($0) has ended") }
            + unreached.map {
                Shown.text("\(user)'s session on \($0) was not reached: see rollcall explain \(user)")
            }
    }
}
