// A worker of `rollcall dev`: this program in a separate process, as in production.

import Foundation

/// A ready worker, as described by its `ready` line.
struct DevWorker: Sendable, Encodable {
    let id: String
    let pid: Int32
    let incarnation: String
    let edge: String
    let admin: String

    /// Parses `ready worker=… edge=… admin=…`.
    init?(id: String, pid: Int32, readyLine line: String) {
        let words = line.split(separator: " ")
        guard words.first == "ready" else { return nil }
        let fields = Dictionary(
            words.dropFirst().compactMap { word -> (Substring, String)? in
                guard let equals = word.firstIndex(of: "=") else { return nil }
                return (word[..<equals], String(word[word.index(after: equals)...]))
            }, uniquingKeysWith: { first, _ in first })
        guard let incarnation = fields["worker"], let edge = fields["edge"], let admin = fields["admin"] else {
            return nil
        }
        self.id = id
        self.pid = pid
        self.incarnation = incarnation
        self.edge = edge
        self.admin = admin
    }

    /// Starts a worker, does `work` once it is ready, and stops it.
    ///
    /// - Parameters:
    ///   - origins: the origins of web pages that may connect. Without any, every page in the browser could.
    ///   - overrides: further `key=value` pairs of its configuration.
    static func during<Result: Sendable>(
        id: String, redis url: String, origins: [String], overrides: [String] = [],
        _ work: @escaping @Sendable (DevWorker, Part<DevWorker>) async throws -> Result
    ) async throws -> Result {
        let settings = [
            "redis.url=\(url)", "worker.id=\(id)", "worker.drain=0s", "auth.mode=insecure",
            "edge.origins=\(origins.joined(separator: ","))", "log.level=warning",
        ]
        return try await Part { last in
            try await start(id: id, settings: settings + ports(like: last) + overrides)
        }.during(work)
    }

    /// Clients know the worker's address, so its successor listens on the same ports.
    private static func ports(like last: DevWorker?) -> [String] {
        [("edge.port", last?.edge), ("admin.port", last?.admin)].map { key, url in
            "\(key)=\(url.flatMap(URL.init(string:))?.port ?? 0)"
        }
    }

    private static func start(id: String, settings: [String]) async throws -> Part<DevWorker>.Life {
        let child = try Child(
            "worker \(id)", program: Program.own,
            arguments: ["worker", "--exit-on-stdin-end"] + settings.flatMap { ["--set", $0] },
            errors: { Output.log("\(id) | \($0)") })
        for await line in child.lines {
            if let worker = DevWorker(id: id, pid: child.pid, readyLine: line) {
                return Part.Life(child: child, running: worker)
            }
        }
        await child.stop()
        try Task.checkCancellation()
        throw PartEnded(name: child.name, ending: await child.ending)
    }
}
