// The doctor's findings about sentinels, simulated and real.

import Logging
import RollcallRedis
import TestSupport
import Testing

@testable import RollcallDoctor

@Suite("The doctor's Sentinel checks", .timeLimit(.minutes(1)))
struct SentinelCheckTests {
    private func reading(
        _ place: String, primary port: Int? = 6379, others: Int = 2, replicas: Int = 2, noQuorum: String? = nil
    ) -> SentinelReading {
        guard let port else { return SentinelReading(place: place, facts: .failure(.failed("nobody answers"))) }
        let facts = [
            "ip": "10.0.0.1", "port": "\(port)", "num-other-sentinels": "\(others)", "num-slaves": "\(replicas)",
        ]
        return SentinelReading(place: place, facts: .success(facts), noQuorum: noQuorum)
    }

    private func finding(_ readings: SentinelReading...) -> Finding {
        SentinelCheck(name: "m", readings: readings).finding
    }

    @Test("enough sentinels that agree are ok")
    func well() {
        let found = finding(reading("h1:1"), reading("h2:1"), reading("h3:1"))
        #expect(found.verdict == .ok)
        #expect(found.found == "3 sentinels know the primary m at 10.0.0.1:6379, with 2 replicas")
    }

    @Test("a user who may only read the address gets no numbers")
    func leastRights() {
        let one = SentinelReading(place: "h1:1", facts: .success(["ip": "10.0.0.1", "port": "6379"]))
        #expect(finding(one, one, one).found == "3 sentinels know the primary m at 10.0.0.1:6379")
        #expect(finding(one).verdict == .ok, "there may be others that cannot be counted")
    }

    /// Regression: the doctor crashed.
    @Test("a number of sentinels beyond all limits is clamped")
    func farNumber() {
        #expect(finding(reading("h1:1", others: .max)).found.hasPrefix("\(Int.max) sentinels know"))
    }

    @Test("what prevents a failover is a failure, or a warning while it is still possible")
    func unwell() {
        let split = finding(reading("h1:1"), reading("h2:1", primary: 6380), reading("h3:1"))
        #expect(split.verdict == .failure && split.found.contains("h2:1 names 10.0.0.1:6380"))
        let few = finding(reading("h1:1", noQuorum: "1 usable Sentinels."), reading("h2:1"))
        #expect(few.verdict == .failure && few.found.contains("1 usable Sentinels."))
        let none = finding(reading("h1:1", primary: nil), reading("h2:1", primary: nil))
        #expect(none.verdict == .failure && none.found.contains("h2:1 (not checked: nobody answers)"))
        let away = finding(reading("h1:1"), reading("h2:1", primary: nil), reading("h3:1"))
        #expect(away.verdict == .warning && away.found.hasPrefix("1 of 3 in redis.url"))
        #expect(finding(reading("h1:1", others: 1)).verdict == .warning)
        #expect(finding(reading("h1:1", replicas: 0)).verdict == .warning)
    }

    @Test("real sentinels are queried, and Redis is checked where they say it is")
    func real() async throws {
        let primary = try await RedisServer()
        let sentinel = try await Sentinel(watching: primary.port, as: "m", quorum: 1)
        let quiet = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        func examine(_ name: String) async -> Examination {
            let url = "redis+sentinel://127.0.0.1:\(sentinel.port)/\(name)"
            return await Doctor.examine(
                file: nil, environment: [:],
                overrides: ["redis.url": url, "auth.mode": "insecure", "edge.port": "0", "admin.port": "0"],
                logger: quiet)
        }
        let seen = await examine("m")
        #expect(seen[.sentinels]?.found == "1 sentinel: if one is lost, no failover is possible")
        #expect(seen[.version]?.verdict == .ok && seen[.role]?.found == "a primary without replicas")
        #expect(seen.outcome == .fine)
        let unknown = await examine("nobody")
        #expect(unknown.outcome == .noRedis && unknown[.sentinels]?.verdict == .failure)
        #expect(unknown[.redis]?.found.contains("knows no primary of the name nobody") == true)
    }
}
