import ArgumentParser

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
        let session = DevSession(port: port, asJSON: json, opensBrowser: open)
        try await Interruptible.run(as: "rollcall dev") { try await session.run() }
    }
}
