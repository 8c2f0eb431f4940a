// Judges this host.

import RollcallListener
import RollcallModel
import RollcallShards

/// Judges the host that a worker would run on.
struct HostChecks {
    let readings: HostReadings
    /// The readings of Redis, if there are any.
    let redis: RedisReadings?

    var findings: [Finding] { [openFiles] + ports + [kernel] }

    /// Fewer sessions than this suggest the limit of a shell, not of a server.
    private static let fewSessions = 4_096

    private var openFiles: Finding {
        let (soft, reachable) = readings.openFiles
        let most = OpenFileLimit.sessions(files: reachable)
        let found =
            "\(reachable) (\(soft) now; a worker raises that), enough for \(most) sessions; "
            + "limits.sessions is \(readings.sessions)"
        guard most < Self.fewSessions else { return Finding(.openFiles, .ok, found) }
        return Finding(
            .openFiles, .warning, found, advice: "raise the hard limit (ulimit -Hn, LimitNOFILE in the unit)")
    }

    private var ports: [Finding] {
        readings.ports.map { port in
            let place = "\(port.name) \(port.host):\(port.port)"
            switch port.refusal {
            case nil: return Finding(.ports, .ok, "\(place) is free")
            case .portTaken: return taken(port, place)
            case .notPermitted:
                return Finding(
                    .ports, .failure, "\(place) needs a privilege, because it is below 1024",
                    advice: "choose another, or give the worker CAP_NET_BIND_SERVICE")
            case .noSuchAddress:
                return Finding(
                    .ports, .failure, "\(place): this machine has no such address",
                    advice: "set \(port.name).host to an address of this machine, 127.0.0.1 or 0.0.0.0")
            case .cannotListen:
                return Finding(
                    .ports, .failure, "cannot listen on \(place)", advice: "set \(port.name).host and .port")
            }
        }
    }

    private func taken(_ port: HostReadings.Port, _ place: String) -> Finding {
        switch port.name {
        case "admin" where port.hasWorker:
            return Finding(.ports, .ok, "\(place) is taken by a worker: its live page answers")
        case "edge":
            guard let neighbour = neighbour(at: port) else { break }
            return Finding(.ports, .ok, "\(place) is taken, probably by the worker \(neighbour)")
        default: break
        }
        return Finding(
            .ports, .warning, "\(place) is taken",
            advice: "unless a worker with this configuration already runs, choose another port (0: a free one)")
    }

    /// The worker that reports this host and port in its heartbeat.
    private func neighbour(at port: HostReadings.Port) -> String? {
        redis?.workers.value?.first { worker in
            worker.leaseEnd >= redis?.time ?? worker.leaseEnd && worker.facts["host"] == readings.name
                && worker.facts["edge"]?.contains(":\(port.port)/") == true
        }?.incarnation
    }

    private var kernel: Finding {
        var doubts: [(what: String, advice: String)] = []
        if let queue = readings.kernel["net.core.somaxconn"], queue < 4_096 {
            doubts.append(
                (
                    "net.core.somaxconn is \(queue): when a worker dies, its devices reconnect all at once",
                    "sysctl net.core.somaxconn=4096"
                ))
        }
        if readings.hasRedis, readings.kernel["vm.overcommit_memory"] == 0 {
            doubts.append(
                (
                    "vm.overcommit_memory is 0: a large Redis may fail to save", "sysctl vm.overcommit_memory=1"
                ))
        }
        // Since 6.2, Redis disables huge pages for itself unless configured otherwise.
        if readings.hasRedis, readings.hasHugePages == true, redis?.settings.value?["disable-thp"] == "no" {
            doubts.append(
                (
                    "transparent huge pages are on, and Redis uses them (disable-thp no): it is slow after each save",
                    "set disable-thp yes in redis.conf, as it is by default"
                ))
        }
        if readings.kernel.isEmpty { return Finding(.kernel, .skipped, "this system does not report it") }
        guard !doubts.isEmpty else { return Finding(.kernel, .ok, "no unsuitable settings") }
        return Finding(
            .kernel, .warning, doubts.map(\.what).joined(separator: "; "),
            advice: doubts.map(\.advice).joined(separator: "; "))
    }
}
