// A command connection on its loop, used from a test's task.

import Logging
import NIOCore
import NIOPosix
import RollcallRedis
import Synchronization
import TestSupport

extension ConnectionSettings {
    /// A connection that detects failures quickly.
    static let hasty = ConnectionSettings(pingEvery: .milliseconds(100), deadAfter: .milliseconds(400))

    /// A connection that tolerates a longer silence than occurs on a slow machine.
    static let patient = ConnectionSettings(pingEvery: .milliseconds(100), deadAfter: .milliseconds(1500))

    /// A connection on which only the test sends; on a slow machine, its pings would be counted, too.
    static func still(maximumWaiting: Int = 65_536) -> ConnectionSettings {
        ConnectionSettings(pingEvery: .seconds(60), deadAfter: .seconds(120), maximumWaiting: maximumWaiting)
    }
}

let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

final class Commands: Sendable {
    /// The events reported to the owner: `connected`, or the code of an error.
    var events: [String] { log.withLock { $0 } }
    private let log = Mutex<[String]>([])
    let eventLoop: any EventLoop
    /// Kept running for as long as this value exists.
    private let redis: RedisServer?
    private let bound: NIOLoopBoundBox<CommandConnection?>

    static var loop: any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }

    init(
        of redis: RedisServer? = nil, url: String? = nil, at endpoint: Endpoint? = nil, name: String = "test",
        settings: ConnectionSettings = ConnectionSettings(),
        scripts: [Script] = [], on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ) async throws {
        let endpoint = try endpoint ?? RedisDeployment(url: url ?? redis?.openURL ?? "").endpoint()
        self.redis = redis
        self.eventLoop = eventLoop
        bound = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
        try await eventLoop.submit { [self] in
            let connection = CommandConnection(
                to: endpoint, name: name, on: eventLoop, logger: quiet, settings: settings, scripts: scripts)
            connection.onConnect = { [weak self] in self?.log.withLock { $0.append("connected") } }
            connection.onDisconnect = { [weak self] error in self?.log.withLock { $0.append("\(error.code)") } }
            bound.value = connection
            connection.start()
        }.get()
    }

    /// Waits until the connection is open.
    func connected() async throws {
        try await eventually("connected") { try await use { $0.isConnected } }
    }

    /// Uses the connection on its loop.
    func use<Result: Sendable>(_ body: @escaping @Sendable (CommandConnection) throws -> Result) async throws -> Result
    {
        try await eventLoop.submit { try body(self.bound.value!) }.get()
    }

    /// Sends a command and waits for its reply.
    func send(_ command: RedisCommand) async throws -> RedisValue {
        try await replies([command])[0].get()
    }

    /// Sends commands in one turn of the loop and waits for all replies, in order of arrival.
    func replies(_ commands: [RedisCommand]) async throws -> [Result<RedisValue, RedisError>] {
        try await collect(commands.count) { connection, reply in
            for command in commands { connection.send(command, reply: reply) }
        }
    }

    /// Runs `body` on the loop and waits for `count` replies.
    func collect(
        _ count: Int,
        _ body: @escaping @Sendable (CommandConnection, @escaping (Result<RedisValue, RedisError>) -> Void) -> Void
    ) async throws -> [Result<RedisValue, RedisError>] {
        let promise = eventLoop.makePromise(of: [Result<RedisValue, RedisError>].self)
        try await use { connection in
            var results: [Result<RedisValue, RedisError>] = []
            body(connection) {
                results.append($0)
                if results.count == count { promise.succeed(results) }
            }
        }
        return try await promise.futureResult.get()
    }

    func close() async throws {
        try await eventLoop.flatSubmit { self.bound.value!.close() }.get()
    }

    /// Releases the connection without closing it.
    func forget() async throws {
        try await eventLoop.submit { self.bound.value = nil }.get()
    }
}

extension RedisDeployment {
    /// The server, if there is only one.
    func endpoint(_ credentials: Credentials.Source? = nil) -> Endpoint {
        guard case .server(let address) = kind else { preconditionFailure("more than a server is no endpoint") }
        return Endpoint(location(at: address), credentials: credentials)
    }
}

extension Result<RedisValue, RedisError> {
    var error: RedisError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
