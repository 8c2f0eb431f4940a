// What this host provides: files, ports, and kernel settings that affect a Redis on it.

import NIOCore
import NIOPosix
import RollcallListener
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The readings of this host.
struct HostReadings: Sendable {
    /// A port that a worker with this configuration would listen on.
    struct Port: Sendable {
        var name: String
        var host: String
        var port: Int
        /// Why the port is unavailable; `nil` if it is free.
        var refusal: ListenError.Code?
        /// Whether a worker's admin port answers there.
        var hasWorker = false
    }

    var name: String
    /// The open-file limit now, and the highest that the process may set.
    var openFiles: (soft: Int, reachable: Int)
    /// The configured limit on sessions.
    var sessions: Int
    var ports: [Port]
    /// `vm.overcommit_memory`, `net.core.somaxconn`; absent on systems without them.
    var kernel: [String: Int]
    /// Whether transparent huge pages are set to `always`.
    var hasHugePages: Bool?
    /// Whether Redis runs on this host, judging by its address.
    var hasRedis: Bool
}

extension HostReadings {
    init(_ configuration: WorkerConfiguration, besides wrong: Set<String>, hasRedis: Bool) async {
        name = ProcessInfo.processInfo.hostName
        openFiles = (Int(clamping: OpenFileLimit.current.rlim_cur), OpenFileLimit.reachable)
        sessions = configuration.limits.sessions
        ports = []
        let places = [
            ("edge", configuration.edge.host, configuration.edge.port),
            ("admin", configuration.admin.host, configuration.admin.port),
        ]
        for (name, host, port) in places
        where port != 0 && wrong.isDisjoint(with: ["\(name).host", "\(name).port"]) {
            var found = Port(name: name, host: host, port: port, refusal: await Self.refusal(host, port))
            if name == "admin", found.refusal == .portTaken {
                found.hasWorker = await AdminNeighbour(
                    host: host, port: port, isEncrypted: configuration.admin.certificate != nil
                ).isWorker()
            }
            ports.append(found)
        }
        kernel = ["vm.overcommit_memory", "net.core.somaxconn"].reduce(into: [:]) { $0[$1] = Self.setting($1) }
        hasHugePages = Self.text("/sys/kernel/mm/transparent_hugepage/enabled").map { $0.contains("[always]") }
        self.hasRedis = hasRedis
    }

    /// Listens briefly, as a worker would. A client that connects at that moment gets no response.
    private static func refusal(_ host: String, _ port: Int) async -> ListenError.Code? {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try? await channel.close()
            return nil
        } catch {
            return ListenError(.edge, host: host, port: port, cause: error).code
        }
    }

    private static func setting(_ name: String) -> Int? {
        text("/proc/sys/" + name.replacing(".", with: "/")).flatMap { Int($0) }
    }

    private static func text(_ path: String) -> String? {
        guard let bytes = try? FileContents.read(path) else { return nil }
        return String(decoding: bytes.trimmingWhiteSpace, as: UTF8.self)
    }
}
