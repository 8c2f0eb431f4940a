// Workers that find no Redis to start on behind sentinels or in a cluster. What workers do on both while primaries fail
// and slots move is a matter of the fault suite, which plays its rows there too.

import Harness
import TestSupport
import Testing

@Suite("A worker without a primary", .timeLimit(.minutes(2)))
struct NoPrimaryTests {
    /// Regression: the message claimed that there was no Redis and asked to start one.
    @Test("does not start on a cluster that is down, and the message says so")
    func down() async throws {
        let set = try await RedisClusterSet()
        let left = try await set.primary(of: "{workers}")
        try #require(set.servers.first { $0 !== left }).process.kill()
        try await eventually("it is down") { try await left.cli("CLUSTER", "INFO").contains("cluster_state:fail") }
        try await expectExit(of: set.url, timeout: "2s", "refuses writes (CLUSTERDOWN", "redis-cli --cluster check")
    }

    @Test("does not start if no node answers, or if the sentinels know no primary of that name, and says so")
    func nobody() async throws {
        try await expectExit(of: "redis+cluster://127.0.0.1:\(try freePort())")
        let redis = try await RedisServer()
        let sentinel = try await Sentinel(watching: redis.port, as: "mymaster", quorum: 1)
        try await expectExit(
            of: "redis+sentinel://127.0.0.1:\(sentinel.port)/other", "knows no primary of the name other")
    }

    private func expectExit(of url: String, timeout: String = "1s", _ texts: String...) async throws {
        let worker = try WorkerProcess.start(["redis.url": url, "redis.connect_timeout": timeout])
        #expect(try await worker.exitCode() == 69)
        for text in texts { try await eventually("it prints \(text)") { worker.errors.contains(text) } }
    }
}
