// A node in a server's process reports to that server's metrics.

import Metrics
import MetricsTestKit
import RollcallNode
import TestSupport
import Testing

@Suite struct NodeMetricsTests {
    @Test("a node reports to the metrics system of its process, and its gauges end with it")
    func reports() async throws {
        let redis = try await RedisServer()
        let metrics = TestMetrics()
        var configuration = WorkerConfiguration()
        configuration.redis.url = redis.url
        configuration.typing.expiry = .seconds(8)
        let embedded = try await withMetricsFactory(metrics) { [configuration] in
            try await EmbeddedNode(configuration)
        }
        // Long enough that the typing is signalled once until it was reported.
        var options = ClientOptions()
        options.typing = try TypingSettings(throttle: .seconds(7), inactivity: .seconds(60), expiry: .seconds(8))
        let alice = embedded.node.client(user: "alice", device: "server")
        let bob = embedded.node.client(user: "bob", device: "server", options: options)
        for client in [alice, bob] { client.connect() }
        let input = bob.typingInput(in: "c42")
        _ = try await bob.connection.first("connected") { $0.isConnected }
        input.edited("Hi")
        _ = try await alice.typing(in: "c42").first("bob types") { !$0.isEmpty }
        // The event loops report separately, and observers are often on another loop than the typing user.
        try await eventually("it is reported") {
            gauge(metrics, "rollcall_sessions") == 2 && gauge(metrics, "rollcall_typists") == 1
                && (try? metrics.expectCounter("rollcall_typing_published_total").totalValue) == 1
        }
        #expect(try metrics.expectTimer("rollcall_typing_publish_seconds").values.count == 1)
        #expect(try metrics.expectTimer("rollcall_redis_round_trip_seconds").values.count > 0)
        #expect(gauge(metrics, "rollcall_lease_held") == 1)
        try await embedded.stop()
        for name in ["rollcall_sessions", "rollcall_lease_held", "rollcall_ready", "rollcall_redis_subscriptions"] {
            #expect(gauge(metrics, name) == 0, "\(name)")
        }
    }

    private func gauge(_ metrics: TestMetrics, _ name: String) -> Double? {
        try? metrics.expectMeter(name).lastValue
    }
}
