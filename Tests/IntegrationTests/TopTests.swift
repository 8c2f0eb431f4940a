// Compares `rollcall top` with counts of the test and of Redis.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("rollcall top")
struct TopTests {
    /// The object that `rollcall top --once --json` prints.
    private struct Told: Decodable {
        struct Worker: Decodable {
            var alive: Bool
            var sessions: Int
            var signals: Int
            var published: Int
            var delivered: Int
        }

        struct Total: Decodable {
            var sessions: Int
        }

        struct Event: Decodable {
            var message: String
        }

        var total: Total
        var events: [Event]
        var workers: [Worker]

        func sum(_ figure: KeyPath<Worker, Int>) -> Int { workers.reduce(0) { $0 + $1[keyPath: figure] } }
    }

    private func top(_ worker: WorkerProcess) async throws -> Told {
        let command = try ChildProcess(
            [RollcallProgram.path, "top", "--once", "--json", "--interval", "200ms", "--admin", worker.admin])
        #expect(try await command.exitCode() == 0, "\(command.errors)")
        try await eventually("its output is read") { command.outputEnded }
        return try JSONDecoder().decode(Told.self, from: Data(command.output.utf8))
    }

    /// Returns how often Redis has run a command.
    private func calls(_ command: String, _ redis: TestRedis) async throws -> Int {
        let lines = try await redis.everywhere("INFO", "commandstats").flatMap { $0.split(whereSeparator: \.isNewline) }
        let counts = lines.filter { $0.hasPrefix("cmdstat_\(command):calls=") }
        return counts.compactMap { Int($0.split(separator: "=")[1].prefix { $0.isNumber }) }.reduce(0, +)
    }

    @Test("agrees with what was sent, and with what Redis has published")
    func agrees() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["typing.throttle": "0", "worker.heartbeat": "200ms", "typing.expiry": "8s"])
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        let room: ConversationID = "c42"
        var devices: [WireDevice] = []
        for number in 0..<10 {
            let device = try await deployment.workers[number % 2].device("user\(number)", "phone")
            #expect(try await device.ask(.state(.active)) == nil)
            #expect(try await device.ask(.join(room, presence: false)) == nil)
            devices.append(device)
        }
        try await eventually("all are counted") { try await top(worker).total.sessions == 10 }
        #expect(try await top(worker).events.map(\.message) == redis.firstEvents, "all kept events")
        let publish = redis.publishing.lowercased()
        let (before, publishedBefore) = (try await top(worker), try await calls(publish, redis))

        for _ in 0..<5 {
            for device in devices { #expect(try await device.ask(.typing(room, true)) == nil) }
        }
        for device in devices { #expect(try await device.ask(.typing(room, false)) == nil) }

        try await eventually("the last heartbeat reports it") {
            try await top(worker).sum(\.published) - before.sum(\.published) == 60
        }
        let after = try await top(worker)
        // 50 signals and 10 stops, each of which is one message on the conversation's channel. Sentinels publish too.
        let published = try await calls(publish, redis) - publishedBefore
        #expect(redis.kind == .sentinel ? published >= 60 : published == 60)
        #expect(try await calls("evalsha", redis) >= 60)
        #expect((50...60).contains(after.sum(\.signals) - before.sum(\.signals)))
        // Each of ten users started and stopped, and the nine others saw it in one or more messages.
        #expect(after.sum(\.delivered) - before.sum(\.delivered) >= 20)
        _ = devices
    }

    /// Regression: it exited with 69.
    @Test("works while Redis is away")
    func withoutRedis() async throws {
        let deployment = try await Deployment(workers: 1)
        try await deployment.redis.kill()
        try await eventually("it reports that", within: .seconds(20)) {
            let command = try ChildProcess(
                [RollcallProgram.path, "top", "--once", "--interval", "200ms", "--admin", deployment.workers[0].admin])
            #expect(try await command.exitCode() == 0, "\(command.errors)")
            try await eventually("its output is read") { command.outputEnded }
            return command.output.contains("Redis is away") && command.output.contains("Redis lost")
        }
    }
}
