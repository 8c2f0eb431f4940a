// Both kinds of connection to a deployment, on one loop, used from a test's task.

import NIOCore
import RollcallModel
import Synchronization
import TestSupport

@testable import RollcallRedis

/// A shard's connections to a deployment.
final class TestClient: Sendable {
    /// The events so far, in order: `connected`, `lost`, `unreachable`, `+channel`, `-channel`, `channel: payload`.
    var events: [String] { log.withLock { $0 } }
    private let log = Mutex<[String]>([])
    private let eventLoop: any EventLoop
    private let topology: Topology
    private let parts: NIOLoopBound<(commands: RedisClient, subscriber: RedisSubscriber)>

    init(
        _ url: String, credentials: Credentials.Source? = nil, scripts: [Script] = Script.all, waits: Bool = true
    ) async throws {
        let loop = Commands.loop
        let topology = Topology(
            of: try RedisDeployment(url: url), credentials: credentials, for: "test", on: loop, logger: quiet)
        (eventLoop, self.topology) = (loop, topology)
        parts = try await loop.submit {
            NIOLoopBound(
                (
                    commands: RedisClient(
                        of: topology, name: "test", on: loop, logger: quiet, scripts: scripts),
                    subscriber: RedisSubscriber(of: topology, name: "hears", on: loop, logger: quiet)
                ), eventLoop: loop)
        }.get()
        try await use { [self] commands, subscriber in
            commands.onConnect = { [weak self] in self?.note("connected") }
            commands.onDisconnect = { [weak self] _ in self?.note("lost") }
            commands.onUnreachable = { [weak self] primary, _ in self?.note("unreachable \(primary)") }
            subscriber.onSubscribed = { [weak self] in for topic in $0 { self?.note("+\(topic.channel)") } }
            subscriber.onLost = { [weak self] in for topic in $0 { self?.note("-\(topic.channel)") } }
            subscriber.onMessage = { [weak self] in self?.note("\($0.channel): \(String(buffer: $1))") }
            commands.start()
            subscriber.start()
        }
        if waits { try await eventually("it is connected") { events.contains("connected") } }
    }

    private func note(_ event: String) { log.withLock { $0.append(event) } }

    func use<Result: Sendable>(
        _ body: @escaping @Sendable (RedisClient, RedisSubscriber) throws -> Result
    ) async throws -> Result {
        try await eventLoop.submit { try body(self.parts.value.commands, self.parts.value.subscriber) }.get()
    }

    /// Sends a command whose first argument is its key.
    func send(_ name: String, _ arguments: String...) async throws -> RedisValue {
        let promise = eventLoop.makePromise(of: RedisValue.self)
        try await use { commands, _ in
            commands.send(RedisCommand(name, arguments: arguments.map { .string($0) })) {
                promise.completeWith($0.mapError { $0 as any Error })
            }
        }
        return try await promise.futureResult.get()
    }

    /// Publishes a message, and returns the number of receivers.
    func publish(_ payload: String, on channel: String) async throws -> Int64? {
        let promise = eventLoop.makePromise(of: RedisValue.self)
        try await use { commands, _ in
            commands.publish(payload, on: channel) { promise.completeWith($0.mapError { $0 as any Error }) }
        }
        return try await promise.futureResult.get().integer
    }

    /// Calls the store on the loop.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void
    ) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        try await use { commands, _ in
            body(Store(on: commands, settings: .patient)) { promise.completeWith($0.mapError { $0 as any Error }) }
        }
        return try await promise.futureResult.get()
    }

    /// Subscribes to channels and waits until all are confirmed.
    func subscribe(_ channels: [String]) async throws {
        try await use { _, subscriber in
            for channel in channels { subscriber.subscribe(channel, as: .worker(Incarnation(name: channel))) }
        }
        try await confirmed(channels)
    }

    func confirmed(_ channels: [String]) async throws {
        try await eventually("\(channels.count) channels are confirmed", within: .seconds(30)) {
            try await use { _, subscriber in channels.allSatisfy(subscriber.isConfirmed) }
        }
    }

    func heard(_ event: String) async throws {
        try await eventually("\(event) is heard") { events.contains(event) }
    }

    func close() async throws {
        try await eventLoop.flatSubmit { [self] in
            parts.value.commands.close().and(parts.value.subscriber.close()).map { _ in }
        }.get()
        await topology.close()
    }
}

extension Topic {
    /// The channel of this subscription.
    fileprivate var channel: String {
        guard case .worker(let incarnation) = self else { return "\(self)" }
        return incarnation.name
    }
}
