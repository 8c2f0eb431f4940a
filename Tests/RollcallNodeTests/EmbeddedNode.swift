// Nodes in the test's process, with a private Redis.

import RollcallNode
import ServiceLifecycle
import TestSupport

/// A node that runs until it is stopped.
struct EmbeddedNode: Sendable {
    let node: RollcallNode
    private let run: Task<Void, any Error>

    init(_ redis: RedisServer) async throws {
        var configuration = WorkerConfiguration()
        configuration.redis.url = redis.url
        try await self.init(configuration)
    }

    init(_ configuration: WorkerConfiguration) async throws {
        let node = try await RollcallNode(configuration)
        self.node = node
        run = Task { try await node.run() }
        try await eventually("the node is ready") { node.isReady }
    }

    func stop() async throws {
        run.cancel()
        try await run.value
    }

    static func with(_ redis: RedisServer, body: (RollcallNode) async throws -> Void) async throws {
        try await with(EmbeddedNode(redis), body: body)
    }

    static func with(_ configuration: WorkerConfiguration, body: (RollcallNode) async throws -> Void) async throws {
        try await with(EmbeddedNode(configuration), body: body)
    }

    private static func with(_ embedded: EmbeddedNode, body: (RollcallNode) async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await body(embedded.node)) } catch { result = .failure(error) }
        try await embedded.stop()
        try result.get()
    }
}

extension Updates {
    /// Reads until a value matches, and returns it.
    func first(_ what: String, _ matches: @escaping @Sendable (Element) -> Bool) async throws -> Element {
        try await withThrowingTaskGroup(of: Element?.self) { group in
            group.addTask {
                for await value in self where matches(value) { return value }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                return nil
            }
            defer { group.cancelAll() }
            guard let found = try await group.next() ?? nil else { throw Timeout(description: "never: \(what)") }
            return found
        }
    }
}
