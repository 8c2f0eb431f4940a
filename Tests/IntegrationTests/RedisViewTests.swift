// What operators see with `redis-cli`, as described on the protocol page.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("Redis seen with redis-cli")
struct RedisViewTests {
    @Test("a typing key lives one to three seconds and is gone three seconds after the last signal")
    func typingKeyLives() async throws {
        let deployment = try await Deployment(workers: 1)
        let redis = deployment.redis
        let alice = try await deployment.workers[0].device("alice", "phone")
        try await alice.ask(.join("c42", presence: false))

        let signalled = ContinuousClock.now
        try await alice.ask(.typing("c42", true))
        #expect(["1", "2", "3"].contains(try await redis.cli("TTL", "typing:{c42}:alice")))
        #expect(try await redis.cli("GET", "typing:{c42}:alice") == "phone")
        #expect(try await redis.cli("ZRANGE", "typing:{c42}", "0", "-1") == "alice phone")
        try await eventually("the key is gone") { try await redis.cli("EXISTS", "typing:{c42}:alice") == "0" }
        let lived = ContinuousClock.now - signalled
        #expect(lived >= .milliseconds(2900), "\(lived)")
        #expect(try await redis.cli("TTL", "typing:{c42}:alice") == "-2")
        #expect(try await redis.cli("EXISTS", "typing:{c42}") == "0")
    }

    @Test("a user's record is readable")
    func recordReadsWell() async throws {
        let deployment = try await Deployment(workers: 2)
        let redis = deployment.redis
        let phone = try await deployment.workers[0].device("alice", "phone")
        let laptop = try await deployment.workers[1].device("alice", "laptop", state: .idle)
        // Acknowledged when it is written, and after everything that the same session sent before.
        try await phone.ask(.state(.active))
        try await laptop.ask(.state(.idle))

        let record = try await fields(of: "presence:{alice}", in: redis)
        #expect(
            Set(record.keys) == ["status", "last_seen", "updated_at", "version", "device:phone", "device:laptop"])
        #expect(record["status"] == "online")
        let words = (record["device:laptop"] ?? "").split(separator: " ")
        try #require(words.count == 6, "\(record)")
        #expect(words[0] == "idle")
        #expect(words[1] == deployment.workers[1].incarnation)
        let session = try #require(try await laptop.welcome()?.session)
        #expect(words[2].hasSuffix("-\(session)"))
        #expect(words[5] == "0")
        for name in ["last_seen", "updated_at", "version"] {
            #expect(record[name]?.wholeMatch(of: /1[0-9]{12}/) != nil, "\(name): \(record[name] ?? "none")")
        }
        #expect(
            try await redis.cli("SMEMBERS", "worker:{\(deployment.workers[1].incarnation)}:sessions")
                == "alice laptop \(session)")

        let worker = try await fields(of: "{workers}:\(deployment.workers[0].incarnation)", in: redis)
        #expect(worker["edge"] == deployment.workers[0].edge)
        #expect(worker["pid"] == "\(deployment.workers[0].process.pid)")
        #expect(worker["format"] == "1")
    }

    @Test("the channels publish each change once, as JSON")
    func channelsTellEachChangeOnce() async throws {
        let deployment = try await Deployment(workers: 2)
        let typingHeard = try await deployment.redis.listener(on: "typing:{c42}")
        let presenceHeard = try await deployment.redis.listener(on: "presence:{alice}")

        let alice = try await deployment.workers[0].device("alice", "phone")
        // The other worker follows them too, and must not publish a second time.
        let bob = try await deployment.workers[1].device("bob", "phone")
        let (c42, user): (ConversationID, UserID) = ("c42", "alice")
        try await bob.ask(.watch([user]))
        try await bob.ask(.join(c42, presence: true))
        try await alice.ask(.join(c42, presence: false))
        try await alice.ask(.typing(c42, true))
        try await alice.ask(.typing(c42, true))
        try await eventually("the renewal is published, deferred by the throttle") {
            try told(by: typingHeard).count == 2
        }
        try await alice.ask(.typing(c42, false))
        try await alice.ask(.state(.idle))
        try await alice.send(.goodbye)
        try await eventually("the goodbye is published, received: \(presenceHeard.output)") {
            try told(by: presenceHeard).last?["devices"] as? Int == 0
        }

        let typing = try told(by: typingHeard)
        #expect(typing.map { $0["typing"] as? Bool } == [true, true, false])
        #expect(typing.allSatisfy { $0["user"] as? String == "alice" && $0["at"] is Int })
        #expect(typing.map { $0["expires_in"] is Int } == [true, true, false])
        let presence = try told(by: presenceHeard)
        #expect(presence.map { $0["status"] as? String } == ["online", "away", "offline"])
        #expect(presence.map { $0["devices"] as? Int } == [1, 1, 0])
        let versions = presence.compactMap { $0["version"] as? Int }
        #expect(versions.count == 3 && versions == versions.sorted() && Set(versions).count == 3, "\(versions)")
    }

    private func fields(of key: String, in redis: TestRedis) async throws -> [String: String] {
        let lines = try await redis.cli("HGETALL", key).split(separator: "\n").map(String.init)
        return Dictionary(
            uniqueKeysWithValues: stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) })
    }

    /// The messages that a `redis-cli` in the middle of `SUBSCRIBE` has printed.
    private func told(by cli: ChildProcess) throws -> [[String: Any]] {
        try cli.output.split(separator: "\n").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
