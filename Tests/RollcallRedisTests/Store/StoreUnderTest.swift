// A store on a private Redis, with asynchronous calls for tests.

import Logging
import NIOCore
import NIOPosix
import RollcallModel
import RollcallRedis
import TestSupport

final class StoreUnderTest: Sendable {
    let redis: RedisServer
    private let loop: any EventLoop
    private let connection: NIOLoopBound<RedisClient>
    /// A connection for commands that a worker may not use.
    private let open: NIOLoopBound<CommandConnection>
    private let store: NIOLoopBound<Store>

    init(settings: Store.Settings = .patient, options: [String] = [], clock: SettableClock? = nil) async throws {
        let redis = try await RedisServer(options: options, clock: clock)
        self.redis = redis
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        let topology = Topology(of: try RedisDeployment(url: redis.url), on: loop, logger: quiet)
        let endpoint = try RedisDeployment(url: redis.openURL).endpoint()
        (connection, open, store) = try await loop.submit {
            let connection = RedisClient(of: topology, name: "test", on: loop, logger: quiet, scripts: Script.all)
            let open = CommandConnection(to: endpoint, name: "open", on: loop, logger: quiet)
            connection.start()
            open.start()
            let store = Store(on: connection, settings: settings)
            return (
                NIOLoopBound(connection, eventLoop: loop), NIOLoopBound(open, eventLoop: loop),
                NIOLoopBound(store, eventLoop: loop)
            )
        }.get()
        try await eventually("the store is connected") {
            try await self.loop.submit { self.connection.value.connectionCount == 1 && self.open.value.isConnected }
                .get()
        }
    }

    deinit {
        loop.execute { [connection, open] in
            _ = connection.value.close()
            _ = open.value.close()
        }
    }

    /// Calls the store on its loop.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void
    ) async throws -> Value {
        let promise = loop.makePromise(of: Value.self)
        loop.execute {
            body(self.store.value) { promise.completeWith($0.mapError { $0 as any Error }) }
        }
        return try await promise.futureResult.get()
    }

    /// Sends a command that bypasses the store.
    @discardableResult
    func command(_ name: String, _ arguments: String...) async throws -> RedisValue {
        try await command(name, arguments: arguments)
    }

    @discardableResult
    func command(_ name: String, arguments: [String]) async throws -> RedisValue {
        let promise = loop.makePromise(of: RedisValue.self)
        loop.execute {
            self.open.value.send(RedisCommand(name, arguments: arguments.map { .string($0) })) {
                promise.completeWith($0.mapError { $0 as any Error })
            }
        }
        return try await promise.futureResult.get()
    }

    /// Redis's clock.
    func now() async throws -> Timestamp {
        let parts = try await command("TIME").array ?? []
        return Timestamp(milliseconds: (parts[0].integer ?? 0) * 1000 + (parts[1].integer ?? 0) / 1000)
    }

    /// Reads a hash from Redis.
    func hash(_ key: String) async throws -> [String: String] {
        let parts = try await command("HGETALL", key).array ?? []
        return Dictionary(
            uniqueKeysWithValues: stride(from: 0, to: parts.count, by: 2).map {
                (parts[$0].string ?? "", parts[$0 + 1].string ?? "")
            })
    }
}

extension Store.Settings {
    /// Typing lasts longer than any test, even on a busy machine.
    static let patient = Store.Settings(typingExpiry: .seconds(60))
}

extension Timestamp {
    /// Later than any test.
    static let never = Timestamp(milliseconds: 9_999_999_999_999)
}
