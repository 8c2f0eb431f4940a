// Both kinds of connection to a deployment, and the store on them, on one loop, used from a test's task.

import Logging
import NIOCore
import NIOPosix
import RollcallProtocol
import Synchronization
import TestSupport

@testable import RollcallRedis

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

extension Store.Settings {
    /// Typing lasts longer than any test, even on a busy machine.
    static let patient = Store.Settings(typingExpiry: .seconds(60))
}

let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

/// A shard's connections to a deployment.
final class TestClient: Sendable {
    /// The events so far, in order: `connected`, `lost CODE`, `unreachable ADDRESS`, `+channel`, `-channel`,
    /// `denied CODE`, `channel: payload`.
    var events: [String] { log.withLock { $0 } }
    private let log = Mutex<[String]>([])
    let eventLoop: any EventLoop
    private let topology: Topology
    private let parts: NIOLoopBound<(commands: RedisClient, subscriber: RedisSubscriber, store: Store)>

    /// - Parameter waits: whether to wait until commands can be sent.
    init(
        _ url: String, credentials: Credentials.Source? = nil, name: String = "test",
        settings: ConnectionSettings = ConnectionSettings(), store: Store.Settings = .patient,
        scripts: [Script] = Script.all, on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        waits: Bool = true
    ) async throws {
        let topology = Topology(
            of: try RedisDeployment(url: url), credentials: credentials, for: "test", on: loop, logger: quiet)
        (eventLoop, self.topology) = (loop, topology)
        parts = try await loop.submit {
            let commands = RedisClient(
                of: topology, name: name, on: loop, logger: quiet, settings: settings, scripts: scripts)
            let subscriber = RedisSubscriber(of: topology, name: "hears", on: loop, logger: quiet, settings: settings)
            return NIOLoopBound((commands, subscriber, Store(on: commands, settings: store)), eventLoop: loop)
        }.get()
        try await use { [self] commands, subscriber in
            commands.onConnect = { [weak self] in self?.note("connected") }
            commands.onDisconnect = { [weak self] in self?.note("lost \($0.code)") }
            commands.onUnreachable = { [weak self, isSpread = commands.isSpread] primary, _ in
                let event = "unreachable \(primary)"
                if isSpread, self?.events.last != event { self?.note(event) }
            }
            subscriber.onSubscribed = { [weak self] in for topic in $0 { self?.note("+\(topic.channel)") } }
            subscriber.onLost = { [weak self] in for topic in $0 { self?.note("-\(topic.channel)") } }
            subscriber.onDenied = { [weak self] in self?.note("denied \($0.code)") }
            subscriber.onMessage = { [weak self] in self?.note("\($0.channel): \(String(buffer: $1))") }
            commands.start()
            subscriber.start()
        }
        if waits { try await eventually("it is connected") { events.contains("connected") } }
    }

    private func note(_ event: String) { log.withLock { $0.append(event) } }

    deinit {
        eventLoop.execute { [parts] in
            _ = parts.value.commands.close()
            _ = parts.value.subscriber.close()
        }
    }

    func close() async throws {
        try await eventLoop.flatSubmit { [self] in
            parts.value.commands.close().and(parts.value.subscriber.close()).map { _ in }
        }.get()
        await topology.close()
    }

    func use<Result: Sendable>(
        _ body: @escaping @Sendable (RedisClient, RedisSubscriber) throws -> Result
    ) async throws -> Result {
        try await eventLoop.submit { try body(self.parts.value.commands, self.parts.value.subscriber) }.get()
    }

    /// Returns the events since the last call of this function, and forgets them.
    func takeEvents() -> [String] {
        log.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Waits for an event.
    func heard(_ event: String, times: Int = 1) async throws {
        try await eventually("\(event) is heard \(times) times") { events.count { $0 == event } >= times }
    }

    /// Waits until the last error contains this text.
    func fails(with text: String) async throws {
        try await eventually("it fails: \(text)") {
            try await use { commands, _ in "\(commands.lastError, default: "")" }.contains(text)
        }
    }

    // MARK: Commands

    /// Sends a command, on a cluster to the primary of its first argument.
    @discardableResult
    func send(_ name: String, _ arguments: RedisCommand.Argument...) async throws -> RedisValue {
        try await replies([RedisCommand(name, arguments: arguments)])[0].get()
    }

    /// Sends commands in one turn of the loop and waits for all replies, in order of arrival.
    func replies(_ commands: [RedisCommand]) async throws -> [Result<RedisValue, RedisError>] {
        try await collect(commands.count) { client, reply in
            for command in commands { client.send(any: command, reply: reply) }
        }
    }

    /// Runs `body` on the loop and waits for `count` replies.
    func collect(
        _ count: Int,
        _ body: @escaping @Sendable (RedisClient, @escaping (Result<RedisValue, RedisError>) -> Void) -> Void
    ) async throws -> [Result<RedisValue, RedisError>] {
        let promise = eventLoop.makePromise(of: [Result<RedisValue, RedisError>].self)
        try await use { commands, _ in
            var results: [Result<RedisValue, RedisError>] = []
            body(commands) {
                results.append($0)
                if results.count == count { promise.succeed(results) }
            }
        }
        return try await promise.futureResult.get()
    }

    /// Calls the store on the loop.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void
    ) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        eventLoop.execute {
            body(self.parts.value.store) { promise.completeWith($0.mapError { $0 as any Error }) }
        }
        return try await promise.futureResult.get()
    }

    // MARK: Messages

    /// Publishes a message, and returns the number of receivers.
    func publish(_ payload: String, on channel: String) async throws -> Int64? {
        try await collect(1) { $0.publish(payload, on: channel, reply: $1) }[0].get().integer
    }

    /// Subscribes to channels and waits until all are confirmed.
    func subscribe(_ channels: [String]) async throws {
        try await use { _, subscriber in for channel in channels { subscriber.subscribe(channel) } }
        try await confirmed(channels)
    }

    func confirmed(_ channels: [String]) async throws {
        try await eventually("\(channels.count) channels are confirmed") {
            try await use { _, subscriber in channels.allSatisfy(subscriber.isConfirmed) }
        }
    }
}

extension RedisClient {
    /// Sends a command, which may have no key.
    func send(any command: RedisCommand, reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        guard case .string(let key)? = command.arguments.first else { return send(command, to: "", reply: reply) }
        send(command, to: key, reply: reply)
    }
}

extension RedisSubscriber {
    /// Subscribes to a channel, with any subject.
    func subscribe(_ channel: String) {
        subscribe(channel, as: .worker(Incarnation(name: ByteString(channel))))
    }
}

extension Topic {
    /// The channel of this subscription.
    fileprivate var channel: String {
        guard case .worker(let incarnation) = self else { return "\(self)" }
        return incarnation.name.string
    }
}

extension Result<RedisValue, RedisError> {
    var error: RedisError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension RedisValue {
    static func text(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }
}
