// `rollcall dev` starts and stops all of its processes, whatever ends it.

import Foundation
import Harness
import RollcallModel
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("rollcall dev")
struct DevTests {
    @Test("serves the page and shows what is published in Redis")
    func comesUp() async throws {
        let dev = try await RunningDev()
        let page = try #require(URL(string: dev.ready.page))
        let (html, _) = try await URLSession.shared.data(from: page)
        #expect(String(decoding: html, as: UTF8.self).contains("<title>Rollcall</title>"))
        for name in ["demo.js", "rollcall.js", "styles/page.css", "icon.svg", "settings.json"] {
            let (_, response) = try await URLSession.shared.data(from: page.appending(path: name))
            #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(name)")
        }
        let cli = try ChildProcess(
            ["redis-cli", "-p", "\(dev.ready.redis.port)", "PUBLISH", "typing:{c42}", #"{"user":"alice"}"#])
        try await cli.exitCode()
        try await eventually("the change is shown") {
            dev.process.output.contains(#"{"channel":"typing:{c42}","message":{"user":"alice"}}"#)
        }
    }

    @Test("stops everything on a signal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func endsOnSignal(_ number: Int32) async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft {
            dev.process.signal(number)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    @Test("leaves nothing behind when it is killed")
    func endsWhenKilled() async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft { dev.process.signal(SIGKILL) }
    }

    @Test("stops everything when one of its processes crashes", arguments: Part.allCases)
    func endsOnCrash(of part: Part) async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft {
            kill(part.pid(in: dev.ready), SIGKILL)
            let code = try await dev.process.exitCode()
            #expect(code == 69)
        }
        #expect(dev.process.errors.contains("\(part.rawValue) was killed by signal 9"))
    }

    @Test("continues when the page crashes and restarts a process, and stops in order", arguments: ["redis", "w2"])
    func partsOfThePage(_ part: String) async throws {
        let dev = try await RunningDev()
        #expect(dev.ready.redis.port != 6399, "another session could take that port while Redis is down")
        try await dev.startAnew(part)
        #expect(dev.process.isRunning)
        try await dev.expectNothingLeft {
            dev.process.signal(SIGTERM)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    @Test("leaves nothing behind when killed after the page restarted a process", arguments: ["redis", "w2"])
    func endsWhenKilledLater(_ part: String) async throws {
        let dev = try await RunningDev()
        try await dev.startAnew(part)
        try await dev.expectNothingLeft { dev.process.signal(SIGKILL) }
    }

    @Test(
        "with sentinels, continues when the page kills the primary while a sentinel is suspended",
        .enabled(if: isSoaking), .timeLimit(.minutes(2)))
    func sentinels() async throws {
        let dev = try await RunningDev(["--redis", "sentinel"], children: 15)
        let sentinels = dev.ready.redis.sentinels
        let (first, last) = (try #require(sentinels.first), try #require(sentinels.last))
        func primary() async throws -> String {
            let answer = try await RunningDev.ask(last.port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
            return answer.split(separator: "\n").last.map(String.init) ?? ""
        }
        let old = try await primary()
        #expect(old == "\(dev.ready.redis.port)")
        kill(first.pid, SIGSTOP)
        defer { kill(first.pid, SIGCONT) }
        try await dev.startAnew("redis") {
            try await eventually("another is the primary") { try await primary() != old }
        }
        kill(first.pid, SIGCONT)
        let alice = try await WireDevice(port: try #require(URL(string: dev.ready.workers[0].edge)?.port))
        try await alice.hello(token: "alice", device: "phone", state: .active)
        try await eventually("what is published there is shown") {
            dev.process.output.contains(#"{"channel":"presence:{alice}""#)
        }
        try await dev.expectNothingLeft {
            dev.process.signal(SIGTERM)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    /// Regression: a server that restarted empty as the primary deleted the data of its replicas.
    @Test(
        "keeps its data while servers are killed and restarted, by the page and directly", .enabled(if: isSoaking),
        .timeLimit(.minutes(3)))
    func sentinelsKeepData() async throws {
        let dev = try await RunningDev(["--redis", "sentinel"], children: 15)
        // If a primary is killed before all sentinels have finished the previous failover, its failure is detected much
        // later. On a slow machine, there may be two failovers, the second one back to the killed server.
        var epoch = 0
        func failedOver() async throws -> Int {
            var found = 0
            try await eventually("all know of a failover, and its primary has two replicas", within: .seconds(60)) {
                var heard: Set<[String]> = []
                for sentinel in dev.ready.redis.sentinels {
                    let facts = try await RunningDev.ask(sentinel.port, "SENTINEL", "MASTER", "mymaster")
                        .split(separator: "\n").map(String.init)
                    heard.insert(
                        ["port", "flags", "config-epoch"].map { name in
                            facts.firstIndex(of: name).map { facts[$0 + 1] } ?? ""
                        })
                }
                guard heard.count == 1, let facts = heard.first, facts[1] == "master",
                    let port = Int(facts[0]), let latest = Int(facts[2]), latest > epoch
                else { return false }
                let info = try await RunningDev.ask(port, "INFO", "replication")
                guard info.matches(of: /state=online/).count == 2 else { return false }
                (found, epoch) = (port, latest)
                return true
            }
            return found
        }
        var port = dev.ready.redis.port
        _ = try await RunningDev.ask(port, "HSET", "members:{c42}", "alice", "Alice")
        #expect(try await RunningDev.ask(port, "WAIT", "2", "10000") == "2")
        // At once, before another server can be promoted.
        try await dev.startAnew("redis")
        port = try await failedOver()
        #expect(try await RunningDev.ask(port, "HGETALL", "members:{c42}") == "alice\nAlice")
        kill(try await dev.server(on: port), SIGKILL)
        port = try await failedOver()
        #expect(try await RunningDev.ask(port, "HGETALL", "members:{c42}") == "alice\nAlice")
        #expect(dev.process.errors.contains("redis-server was killed by signal 9 and is restarted"))
        try await dev.expectNothingLeft {
            dev.process.signal(SIGTERM)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    @Test("names the port that is in use")
    func portTaken() async throws {
        let first = try await RunningDev()
        let port = try #require(URL(string: first.ready.page)?.port)
        let second = try ChildProcess([RollcallProgram.path, "dev", "--port", "\(port)"])
        #expect(try await second.exitCode() == 69)
        try await eventually("the error is read") { second.outputEnded }
        #expect(second.errors == "rollcall dev: port \(port) is taken by another program\n")
    }

    enum Part: String, CaseIterable {
        case redis = "redis-server"
        case worker = "worker w2"

        func pid(in ready: Ready) -> Int32 {
            switch self {
            case .redis: ready.redis.pid
            case .worker: ready.workers[1].pid
            }
        }
    }
}
