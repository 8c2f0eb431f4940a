import ArgumentParser
import Foundation

/// `rollcall dev`: runs everything on one machine, to try it or to develop with it.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a private Redis, two workers and a demo page.",
        discussion: """
            Needs only redis-server and redis-cli, and keeps no data. Ctrl-C, closing the terminal, or a crash of any \
            part stops everything. Parts that the page crashes can be started again from there.
            """)

    @Option(
        help: "The demo page's port; 0 picks free ports, also for Redis. By default 8000, or a free one.")
    var port: Int?

    @Flag(help: "Open the page in the browser.")
    var open = false

    @Flag(help: "Print one JSON object per line: what is running, then the changes.")
    var json = false

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be a number from 0 to 65535") }
    }

    func run() async throws {
        try await Interruptible.run(as: "rollcall dev") {
            let page = DemoPage()
            try await page.during(port: port) { pagePort in
                let settings = Deployment.Settings(redisPort: port == 0 ? nil : 6399)
                try await Deployment.during(settings) { deployment in
                    page.show(deployment)
                    let ready = Ready(
                        page: "http://127.0.0.1:\(pagePort)/", redis: await deployment.redis,
                        workers: await deployment.ready)
                    try await Changes(deployment: deployment, asJSON: json).show {
                        if json { try Output.json(["ready": ready]) } else { try Output.line(ready.text) }
                        if open { Self.open(ready.page) }
                    }
                }
            }
        }
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
    let redis: DevRedis
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
