// What this host gives a worker: files, ports, and what its kernel does to a Redis beside it.

import NIOCore
import NIOPosix

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What was read of this host.
struct HostReadings: Sendable {
    /// A port that a worker of this configuration would listen on.
    struct Port: Sendable {
        var name: String
        var host: String
        var port: Int
        /// Why it cannot be had; `nil` if it is free.
        var refusal: ListenError.Code?
        /// Whether a worker's admin port answers there.
        var hasWorker = false
    }

    var name: String
    /// How many files a process may have open now, and as many as it may allow itself.
    var openFiles: (soft: Int, reachable: Int)
    /// How many sessions the configuration takes.
    var sessions: Int
    var ports: [Port]
    /// `vm.overcommit_memory`, `net.core.somaxconn`; absent where there is no such thing.
    var kernel: [String: Int]
    /// Whether the kernel makes pages huge without being asked.
    var hasHugePages: Bool?
    /// Whether Redis runs on this host too, as far as its address says.
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

    /// Listens for a moment, as a worker would; nobody who connects just then is answered.
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
