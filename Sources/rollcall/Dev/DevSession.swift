// `rollcall dev` as nested scopes: the page, Redis, two workers, the view of changes. If any of them ends, all end.

import Foundation

/// Everything that `rollcall dev` runs.
struct DevSession: Sendable {
    /// The port of the page; `nil` for the usual port or, if that is taken, any. 0 means any port, also for Redis, so
    /// that several sessions can run at the same time.
    let port: Int?
    let asJSON: Bool
    let opensBrowser: Bool

    /// Runs until cancelled.
    ///
    /// - Throws: ``PartEnded`` if a part ends unexpectedly, ``CannotStart`` or ``PortTaken`` if one cannot start.
    func run() async throws {
        let page = DemoServer()
        try await page.during(port: port) { port in
            let origins = ["http://127.0.0.1:\(port)", "http://localhost:\(port)"]
            try await PrivateRedis.during(atHome: self.port != 0) { redis, redisPart in
                try await DevWorker.during(id: "w1", redis: redis.url, origins: origins) { first, firstPart in
                    try await DevWorker.during(id: "w2", redis: redis.url, origins: origins) { second, secondPart in
                        page.show(
                            DemoSettings(redis: redis, workers: [first, second]),
                            parts: ["redis": redisPart, first.id: firstPart, second.id: secondPart])
                        try await LiveView(redis: redisPart, asJSON: asJSON).run {
                            try ready(Ready(page: origins[0] + "/", redis: redis, workers: [first, second]))
                        }
                    }
                }
            }
        }
    }

    private func ready(_ ready: Ready) throws {
        if asJSON { try Output.json(["ready": ready]) } else { try Output.line(ready.text) }
        if opensBrowser { Self.open(ready.page) }
    }

    /// Opens the page in a browser. If that is not possible, the printed address can be opened by hand.
    private static func open(_ page: String) {
        #if os(macOS)
            let opener = "open"
        #else
            let opener = "xdg-open"
        #endif
        do {
            _ = try Child(opener, program: Program.find(opener), arguments: [page])
        } catch {
            Output.log("rollcall dev: cannot open a browser, because \(opener) does not run")
        }
    }
}

/// What is running, and where.
private struct Ready: Encodable {
    let page: String
    let redis: PrivateRedis
    let workers: [DevWorker]

    var text: String {
        let lines = workers.map { "  \($0.id)      \($0.edge)\n          \($0.admin)" }
        let cli = "redis-cli -p \(redis.port)"
        let trials = [
            "\(cli) PSUBSCRIBE 'typing:*' 'presence:*'", "\(cli) TTL 'typing:{c42}:alice'",
            "\(cli) HGETALL 'presence:{alice}'", "curl '\(workers[0].admin)/v1/presence?user=alice&user=bob'",
        ].joined(separator: "\n          ")
        return """

            Rollcall is running. Ctrl-C stops everything.

              open    \(page)
              live    \(workers[0].admin)/live
              redis   127.0.0.1:\(redis.port), without persistence
            \(lines.joined(separator: "\n"))

              try     \(trials)

            Changes, as Redis publishes them:

            """
    }
}
