// What an operator runs: a Redis server and workers that use it.

public import RollcallClient
public import TestSupport

/// A private Redis and some workers; all are stopped when the value is released.
public struct Deployment: Sendable {
    public let redis: TestRedis
    public let workers: [WorkerProcess]

    /// - Parameters:
    ///   - settings: configuration of every worker that differs from the defaults.
    ///   - kind: the kind of Redis deployment, for tests that depend on it.
    public init(
        workers count: Int, settings: [String: String] = [:], on kind: TestRedis.Kind = .usual
    ) async throws {
        let redis = try await TestRedis(kind)
        self.redis = redis
        workers = try await withThrowingTaskGroup(of: (Int, WorkerProcess).self) { group in
            for number in 0..<count {
                group.addTask {
                    (number, try await WorkerProcess("w\(number + 1)", redis: redis.url, settings: settings))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Connects a client to one of the workers.
    public func client(_ user: String, _ device: DeviceID, on worker: Int) async throws -> RollcallClient {
        var options = ClientOptions()
        options.typing = try TypingSettings(debounce: .zero)
        let client = RollcallClient(url: workers[worker].edge, device: device, options: options) { user }
        client.connect()
        try await eventually("\(user)'s \(device) is connected") { client.connection.latest.isConnected }
        return client
    }
}
