// The doctor's findings about clusters, simulated and real.

import Logging
import RollcallRedis
import TestSupport
import Testing

@testable import RollcallDoctor

@Suite("The doctor's cluster checks", .timeLimit(.minutes(1)))
struct ClusterCheckTests {
    private func finding(
        primaries: Int = 3, lone: Int = 0, state: String = "ok", served: Int = 16_384
    ) -> Finding {
        let nodes = (1...primaries).map { RedisLocation.Address.host("r\($0)", port: 6379) }
        let facts = ["cluster_state": state, "cluster_slots_ok": "\(served)"]
        return ClusterCheck(
            reading: .success(ClusterReading(facts: facts, primaries: nodes, lone: Array(nodes.prefix(lone))))
        ).finding
    }

    @Test("a complete cluster with replicas is ok; what is missing is reported")
    func states() {
        #expect(finding() == Finding(.cluster, .ok, "3 primaries serve all slots, each with a replica"))
        #expect(finding(lone: 1).verdict == .warning && finding(lone: 1).found.contains("r1:6379 has no replica"))
        #expect(finding(primaries: 2).verdict == .warning)
        #expect(finding(state: "fail").verdict == .failure && finding(served: 16_000).verdict == .failure)
        #expect(finding(served: 16_000).found == "3 primaries, of which 16000 of 16384 slots are served")
    }

    @Test("what is ok everywhere is reported once, what is not with its node, and keys for each node")
    func together() {
        let (well, full) = (Finding(.memory, .ok, "1 MiB used"), Finding(.memory, .warning, "full", advice: "more"))
        let unseen = Finding(.clock, .skipped, "not checked")
        let told = ClusterCheck.together([
            ("a:1", [well, unseen, Finding(.keys, .ok, "1 key")]),
            ("b:1", [full, unseen, Finding(.keys, .ok, "2 keys")]),
        ])
        #expect(
            told == [
                Finding(.memory, .warning, "b:1: full", advice: "more"), Finding(.keys, .ok, "a:1: 1 key"),
                Finding(.keys, .ok, "b:1: 2 keys"), unseen,
            ])
        #expect(ClusterCheck.together([("a:1", [well]), ("b:1", [well])]) == [well])
    }

    @Test("a real cluster is checked primary by primary, and distinguished from a single node in cluster mode")
    func real() async throws {
        let set = try await RedisClusterSet()
        let quiet = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        func examine(_ url: String) async -> Examination {
            await Doctor.examine(
                file: nil, environment: [:],
                overrides: ["redis.url": url, "auth.mode": "insecure", "edge.port": "0", "admin.port": "0"],
                logger: quiet)
        }
        let seen = await examine(set.openURL)
        #expect(seen[.cluster]?.found.contains("has no replica") == true && seen[.cluster]?.verdict == .warning)
        #expect(seen[.role]?.found == "a primary without replicas" && seen[.rights]?.verdict == .ok)
        #expect(seen.findings.count { $0.check == .keys } == 3 && seen[.workers]?.found == "none yet")
        let alone = await examine(set.servers[0].openURL)
        #expect(alone[.role]?.advice?.contains("redis+cluster://") == true && alone[.role]?.verdict == .failure)
        let port = try freePort()
        let nobody = await examine("redis+cluster://127.0.0.1:\(port)")
        #expect(nobody.outcome == .noRedis)
    }
}
