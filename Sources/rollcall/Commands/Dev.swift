import ArgumentParser

/// `rollcall dev`: runs everything on one machine, to try it or to develop with it.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a private Redis, two workers and a demo page.",
        discussion: """
            Needs only redis-server and redis-cli, and keeps no data. Ctrl-C, closing the terminal, or a crash of any \
            part stops everything, except for Redis servers that others replace. Parts that the page crashes can be \
            started again from there.
            """)

    @Option(
        help: "The demo page's port; 0 picks free ports, also for Redis. By default 8000, or a free one.")
    var port: Int?

    @Option(
        help: """
            The kind of Redis: single; sentinel (a primary, two replicas and three sentinels); or cluster (three \
            primaries with a replica each; Redis 7.0 or later).
            """)
    var redis = RedisKind.single

    @Flag(help: "Open the page in the browser.")
    var open = false

    @Flag(help: "Print one JSON object per line: what is running, then the changes.")
    var json = false

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be a number from 0 to 65535") }
    }

    func run() async throws {
        let session = DevSession(port: port, redis: redis, asJSON: json, opensBrowser: open)
        try await Interruptible.run(as: "rollcall dev") { try await session.run() }
    }
}
