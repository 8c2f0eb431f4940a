import ArgumentParser

/// `rollcall dev`: runs everything on one machine, to try it or to develop with it.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a private Redis, two workers and a demo page.",
        discussion: """
            Needs redis-server and redis-cli, nothing else. Nothing is kept: Ctrl-C, the end of the terminal, or the \
            crash of any part takes everything down, but of servers of Redis whose place others take. What the page \
            itself crashes, it can start again.
            """)

    @Option(
        help: "The demo page's port; 0 picks free ones, for Redis too. By default 8000, or a free one if it is taken.")
    var port: Int?

    @Option(
        help: """
            What Redis is made of: single; sentinel: a primary, two replicas and three sentinels; or cluster (Redis 7.0 or \
            later): three primaries with a replica each.
            """)
    var redis = RedisKind.single

    @Flag(help: "Open the page in the browser.")
    var open = false

    @Flag(help: "Print one JSON object a line: what is running, then the changes.")
    var json = false

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port takes a number from 0 to 65535") }
    }

    func run() async throws {
        let session = DevSession(port: port, redis: redis, asJSON: json, opensBrowser: open)
        try await Interruptible.run(as: "rollcall dev") { try await session.run() }
    }
}
