// A store on a private Redis, with asynchronous calls for tests.

import Foundation
import RollcallProtocol
import RollcallRedis
import TestSupport

final class StoreUnderTest: Sendable {
    let redis: RedisServer
    private let client: TestClient
    /// For commands that a worker may not use.
    private let open: TestClient

    init(settings: Store.Settings = .patient, options: [String] = [], clock: SettableClock? = nil) async throws {
        redis = try await RedisServer(options: options, clock: clock)
        client = try await TestClient(redis.url, store: settings)
        open = try await TestClient(redis.openURL)
    }

    /// A store on a Redis with this ACL file, which has a user with this name and password who may run every command.
    init(aclFile: URL, operator name: String, _ password: String, options: [String]) async throws {
        redis = try await RedisServer(options: options + ["--aclfile", aclFile.path], hasUsers: false)
        var settings = Store.Settings.patient
        settings.keptEvents = 100
        client = try await TestClient(redis.url, store: settings)
        open = try await TestClient("redis://\(name):\(password)@127.0.0.1:\(redis.port)")
    }

    /// Another worker's store on the same Redis.
    init(on other: StoreUnderTest, settings: Store.Settings) async throws {
        redis = other.redis
        client = try await TestClient(redis.url, store: settings)
        open = other.open
    }

    /// Calls the store on its loop.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void
    ) async throws -> Value {
        try await client.call(body)
    }

    /// Sends a command that bypasses the store.
    @discardableResult
    func command(_ name: String, _ arguments: String...) async throws -> RedisValue {
        try await command(name, arguments: arguments)
    }

    @discardableResult
    func command(_ name: String, arguments: [String]) async throws -> RedisValue {
        try await open.replies([RedisCommand(name, arguments: arguments.map { .string($0) })])[0].get()
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
                (parts[$0].text?.string ?? "", parts[$0 + 1].text?.string ?? "")
            })
    }
}

extension Timestamp {
    /// Later than any test.
    static let never = Timestamp(milliseconds: 9_999_999_999_999)
}
