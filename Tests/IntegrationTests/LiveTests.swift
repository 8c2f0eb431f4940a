// `GET /v1/live` reports what devices did, on any worker.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import RollcallWorker
import TestSupport
import Testing

@Suite("GET /v1/live")
struct LiveTests {
    /// What `GET /v1/live` answers.
    private func told(by worker: WorkerProcess) async throws -> AdminLive {
        let answer = try await Web.get("\(worker.admin)/v1/live")
        return try JSONDecoder().decode(AdminLive.self, from: Data(answer.body.utf8))
    }

    @Test("agrees with what the test did: sessions, signals, messages published and delivered")
    func counts() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["typing.expiry": "8s", "typing.throttle": "0s", "worker.heartbeat": "250ms"])
        let (first, second) = (deployment.workers[0], deployment.workers[1])
        let alice = try await first.device("alice", "phone")
        let others = [try await second.device("bob", "phone"), try await second.device("carol", "phone")]
        for device in [alice] + others { try await device.ask(.join("c42", presence: false)) }
        for number in 1...7 { try await alice.ask(.typing("c42", !number.isMultiple(of: 2))) }
        try await others[0].ask(.typing("c42", true))
        for (worker, joined) in [(first, 1), (second, 2)] {
            try await eventually("it reports the conversation with two typists") {
                let busy = try await told(by: worker).conversations
                return busy.map(\.conversation) == ["c42"] && busy.map(\.typing) == [2]
                    && busy.map(\.joined) == [joined]
            }
        }
        for device in [alice, others[0]] { try await device.ask(.typing("c42", false)) }
        for device in [alice] + others {
            try await eventually("all see that typing has ended") { try await device.typing(in: "c42")?.count == 0 }
        }
        for asked in deployment.workers {
            var told: AdminLive?
            try await eventually("both workers' heartbeats report all of it") {
                for device in [alice] + others { try await device.look() }
                let heard = [alice.messages.count, others.reduce(0) { $0 + $1.messages.count }]
                told = try await self.told(by: asked)
                return told?.workers.map(\.delivered) == heard.map(Int64.init)
            }
            let live = try #require(told)
            #expect(live.workers.map(\.incarnation) == deployment.workers.map(\.incarnation))
            #expect(live.workers.map(\.sessions) == [1, 2] && live.workers.map(\.signals) == [8, 2])
            #expect(live.workers.map(\.published) == [8, 2] && live.conversations.isEmpty)
            #expect(live.workers.allSatisfy { $0.roundTrip != nil && $0.cpu.map { $0 > 0 } == true })
            #expect(live.worker == asked.incarnation && live.ready && live.redis.up)
            #expect(live.events.map(\.message) == deployment.redis.firstEvents)
        }
        let hash = ["HGET", "{workers}:\(first.incarnation)", "signals"]
        #expect(try await deployment.redis.cli(hash) == "8", "the figures are in Redis")
    }

    /// Regression: it answered 503, although events and conversations are known to the worker itself.
    @Test("answers while Redis is away with what the worker itself knows")
    func withoutRedis() async throws {
        let deployment = try await Deployment(workers: 1)
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        try await alice.ask(.join("c42", presence: false))
        try await deployment.redis.kill()
        try await eventually("the worker reports that Redis is away") { try await !told(by: worker).redis.up }
        let live = try await told(by: worker)
        #expect(live.workers.isEmpty && live.worker == worker.incarnation)
        #expect(live.events.contains { $0.message == "Redis lost" })
        let host = try #require(live.hostTime)
        #expect(
            Duration.seconds(-5)...(.seconds(5)) ~= host.since(live.time), "the worker still estimates Redis's time")
        _ = alice
    }

    @Test("reports key changes among its events")
    func keys() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(String(repeating: "s", count: 32).utf8).write(to: file)
        let jwt = ["auth.mode": "jwt", "auth.secret_file": file.path]
        let worker = try await Deployment(workers: 1, settings: jwt).workers[0]
        try Data("short".utf8).write(to: file)
        try await eventually("it reports that they cannot be read") {
            try await told(by: worker).events.contains { $0.message.hasPrefix("keys cannot be read") }
        }
    }

    @Test("reports that a worker is dead, and which worker swept it")
    func mended() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["worker.lease": "1s", "worker.heartbeat": "200ms", "log.level": "error"])
        let (left, dead) = (deployment.workers[0], deployment.workers[1])
        dead.crash()
        try await eventually("its lease expires, and it is swept") {
            let live = try await told(by: left)
            return live.events.contains {
                $0.message == "swept a dead worker" && $0.facts["incarnation"] == dead.incarnation && $0.level == "info"
            } && live.workers.map(\.incarnation) == [left.incarnation]
        }
    }
}
