// A worker next to one of a later version, which sends values that this version does not know.

import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A worker next to one of a later version")
struct LaterVersionTests {
    @Test("shows the known parts of a user with an unknown status")
    func laterStatus() async throws {
        let deployment = try await Deployment(workers: 1)
        let redis = deployment.redis
        let bob = try await deployment.client("bob", "laptop", on: 0)
        let seen = Observer(bob.presence(of: "alice"))
        try await seen.sees(.offline)

        let (far, version) = ("9999999999999", "8888888888888")
        try await redis.cli("ZADD", "{workers}", far, "w9.later")
        try await redis.cli(
            "HSET", "presence:{alice}", "status", "driving", "updated_at", version, "version", version,
            "device:car", "driving w9.later 1784600000000-aa 1 1784600000000 0 fast",
            "device:phone", "idle w9.later 1784600000000-bb 1 1784600000000 0")
        try await redis.publish(
            #"{"user":"alice","status":"driving","last_seen":1,"updated_at":\#(version),"version":\#(version)}"#,
            to: "presence:{alice}")
        try await seen.sees(.away)
    }

    @Test("reads a conversation again after a change that it cannot parse")
    func laterTyping() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["typing.expiry": "8s"])
        let redis = deployment.redis
        let bob = try await deployment.client("bob", "laptop", on: 0)
        let seen = Observer(bob.typing(in: "c42"))
        try await seen.sees(typing: [])

        // A score more than two expiries ahead would count as stored before Redis's clock was set back.
        let time = try await redis.cli("TIME").split(separator: "\n").first.flatMap { Int64($0) } ?? 0
        try await redis.cli("ZADD", "typing:{c42}", "\((time + 15) * 1000)", "alice car")
        try await redis.publish(#"{"user":"alice","typing":"voice","at":1}"#, to: "typing:{c42}")
        try await seen.sees(typing: ["alice"])
        try await redis.cli("HSET", "members:{c42}", "{managed}", "1", "alice", "Alice")
        try await redis.publish(#"{"user":"bob","member":"never"}"#, to: "members:{c42}")
        try await seen.sees("its removal") { $0.refusal != nil }
    }
}
