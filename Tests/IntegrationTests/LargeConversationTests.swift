// A conversation with very many members, which a dashboard reads repeatedly: these reads must not affect anyone else.

import FaultSuite
import Foundation
import Harness
import NIOCore
import RollcallClient
import RollcallProtocol
import Synchronization
import TestSupport
import Testing

@Suite("A conversation of 600,000 members", .enabled(if: isSoaking), .timeLimit(.minutes(3)))
struct LargeConversationTests {
    private struct Page: Decodable {
        var members: [String: String]
        var cursor: String?
    }

    private func page(_ answer: HTTPLine.Answer) throws -> Page {
        try JSONDecoder().decode(Page.self, from: Data(answer.body.readableBytesView))
    }

    @Test("is read in pages, and reading it costs the worker neither its lease nor anyone's typing")
    func pages() async throws {
        let deployment = try await Deployment(workers: 1, on: .server)
        let worker = deployment.workers[0]
        let redis = deployment.redis
        let fill = """
            redis.call('HSET', KEYS[1], '{managed}', '1')
            for i = tonumber(ARGV[1]), tonumber(ARGV[1]) + 19999 do
              redis.call('HSET', KEYS[1], 'user-' .. i, 'User number ' .. i)
            end
            """
        for start in stride(from: 0, to: 600_000, by: 20_000) {
            _ = try await redis.cli("EVAL", fill, "1", "members:{large}", "\(start)")
        }
        let path = "/v1/conversations/large/members"
        let typist = try await worker.device("typist", "phone")
        #expect(try await typist.ask(.join("talk", presence: false)) == nil)

        // Requests everything at once, like older callers, again and again.
        let answers = Mutex<[Int]>([])
        let poller = Task {
            let line = try await HTTPLine(port: worker.adminPort)
            while !Task.isCancelled {
                for query in ["", "?limit=10000"] {
                    let status = try await line.get(path + query, within: .seconds(10)).status
                    answers.withLock { $0.append(status) }
                }
            }
        }
        let metronome = Metronome()
        let start = ContinuousClock.now
        var slowest = Duration.zero
        while ContinuousClock.now < start + .seconds(5) || answers.withLock({ $0.count }) < 10 {
            let began = ContinuousClock.now
            #expect(try await typist.ask(.typing("talk", true)) == nil)
            slowest = max(slowest, ContinuousClock.now - began)
        }
        poller.cancel()
        try await poller.value
        print("slowest typing \(slowest), \(answers.withLock { $0.count }) answers")
        #expect(Set(answers.withLock { $0 }) == [400, 200])
        #expect(slowest < .seconds(2) + metronome.longestDelay(since: start))

        let line = try await HTTPLine(port: worker.adminPort)
        var (users, cursor): (Set<String>, String?) = ([], nil)
        repeat {
            let query = "?limit=10000" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try page(try await line.get(path + query, within: .seconds(10)))
            #expect(page.members.count <= 20_000)
            users.formUnion(page.members.keys)
            cursor = page.cursor
        } while cursor != nil
        #expect(users.count == 600_000)
        let workers = String(buffer: try await line.get("/v1/workers", within: .seconds(10)).body)
        #expect(workers.contains(worker.incarnation), "the lease was lost: \(workers)")
        #expect(try await redis.cli("ZCARD", "{workers}") == "1")
    }
}
