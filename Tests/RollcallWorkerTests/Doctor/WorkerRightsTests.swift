// A worker's permissions in Redis: the ACL file for operators, the list in the code and the scripts must agree.

import Foundation
import Logging
import NIOCore
import NIOPosix
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis
@testable import RollcallWorker

@Suite("A worker's permissions", .timeLimit(.minutes(1)))
struct WorkerRightsTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private func missing(
        _ url: String, prefix: String = "", ofCluster isOfCluster: Bool = false
    ) async throws -> [RedisRight] {
        try await shortfall(url, prefix: prefix, ofCluster: isOfCluster).rights
    }

    private func shortfall(
        _ url: String, prefix: String = "", ofCluster isOfCluster: Bool = false
    ) async throws -> Shortfall {
        let (loop, quiet) = (
            MultiThreadedEventLoopGroup.singleton.next(), Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        )
        let topology = Topology(of: try RedisDeployment(url: url), on: loop, logger: quiet)
        let visit = try await RedisVisit(to: topology, on: loop, within: .seconds(10), logger: quiet)
        let found = await Result {
            try await visit.shortfall(of: WorkerRights(names: KeyNames(prefix: prefix), ofCluster: isOfCluster))
        }
        await visit.close()
        await topology.close()
        return try found.get()
    }

    @Test("the files in Config grant them, in one line and without a password")
    func files() throws {
        for (name, isOfCluster) in [("redis.acl", false), ("redis-cluster.acl", true)] {
            let file = try String(contentsOf: Self.package.appending(path: "Config/\(name)"), encoding: .utf8)
            #expect(file == WorkerRights(names: KeyNames(), ofCluster: isOfCluster).line(user: "rollcall") + "\n")
        }
    }

    @Test("they include every command in a script")
    func scripts() throws {
        let rights = Set(WorkerRights(names: KeyNames()).all)
        for script in Script.all {
            for call in script.source.matches(of: #/redis\.p?call\(\s*'([A-Z]+)'/#) {
                #expect(rights.contains(.command(call.output.1.lowercased())), "\(script.name) calls \(call.output.1)")
            }
            // This test would miss commands that are not called with a literal name.
            #expect(
                script.source.matches(of: #/redis\.p?call/#).count
                    == script.source.matches(of: #/redis\.p?call\(\s*'/#).count)
        }
    }

    @Test("none is missing with them, nor if everything is permitted; and the check changes nothing")
    func complete() async throws {
        let redis = try await RedisServer()
        #expect(try await missing(redis.url) == [])
        #expect(try await missing(redis.openURL) == [])
        #expect(try await redis.cli("DBSIZE") == "0")
    }

    @Test("each permission that is removed is named, and no other")
    func each() async throws {
        let redis = try await RedisServer()
        let all = WorkerRights(names: KeyNames()).all
        // Commands for a primary found through sentinels are used before this check, and for no other server.
        for right in all where right != .command("role") {
            var user = ["ACL", "SETUSER", "lacks", "reset", "on", ">pw", "resetchannels"]
            user += all.filter { $0 != right }.map(\.description)
            #expect(try await redis.cli(user) == "OK")
            let found = try await missing("redis://lacks:pw@127.0.0.1:\(redis.port)")
            // Without MULTI, nothing can be asked, so the check cannot know whether DISCARD is permitted.
            let expected: [RedisRight] = right == .command("multi") ? [right, .command("discard")] : [right]
            #expect(found == expected, "without \(right)")
        }
    }

    /// Regression: such a Redis passed, and every write failed.
    @Test("renamed commands are named, and a server that refuses writes is reported as such")
    func otherThanRights() async throws {
        let renamed = try await RedisServer(options: [
            "--rename-command", "evalsha", "", "--rename-command", "hset", "hidden",
        ])
        #expect(try await shortfall(renamed.openURL) == Shortfall(commands: ["EVALSHA", "HSET"]))
        let lone = try await RedisServer(options: ["--min-replicas-to-write", "1"])
        let refusal = try await shortfall(lone.url).refusal
        #expect(refusal?.hasPrefix("NOREPLICAS ") == true)
        let bare = try await RedisServer(options: ["--rename-command", "multi", ""])
        #expect(try await shortfall(bare.openURL).commands == ["MULTI"])
    }

    @Test("a user who may not use transactions is reported to need the permission to run scripts")
    func looksOnly() async throws {
        let redis = try await RedisServer()
        try await redis.cli("ACL", "SETUSER", "looks", "on", ">pw", "~*", "+info")
        #expect(
            try await missing("redis://looks:pw@127.0.0.1:\(redis.port)")
                == [.command("multi"), .command("discard"), .command("evalsha")])
    }

    @Test("a prefix precedes every pattern, and is literal", arguments: ["chat:", "a*b?[c]\\d:"])
    func prefix(prefix: String) async throws {
        let redis = try await RedisServer()
        let rights = WorkerRights(names: KeyNames(prefix: prefix))
        #expect(try await missing(redis.url, prefix: prefix).count == 22)
        try await redis.cli(
            ["ACL", "SETUSER", "prefixed", "on", ">pw", "resetchannels"] + rights.all.map(\.description))
        let url = "redis://prefixed:pw@127.0.0.1:\(redis.port)"
        #expect(try await missing(url, prefix: prefix) == [])
        #expect(try await missing(url).count == 22)
        #expect(
            try await missing(url, prefix: prefix.replacing("*", with: "xx")).isEmpty == !prefix.contains("*"))
    }

    @Test("on a cluster, each permission that is removed is named, and no other")
    func eachOnACluster() async throws {
        let set = try await RedisClusterSet()
        let all = WorkerRights(names: KeyNames(), ofCluster: true).all
        #expect(try await missing(set.url, ofCluster: true) == [])
        let url = "redis+cluster://lacks:pw@127.0.0.1:\(set.servers[0].port)"
        // Without the first, there is no route; without the second, nothing can be asked.
        for right in all where ![.command("cluster|slots"), .command("multi")].contains(right) {
            let rules = all.filter { $0 != right }.map(\.description)
            for server in set.servers {
                try await server.cli(["ACL", "SETUSER", "lacks", "reset", "on", ">pw", "resetchannels"] + rules)
            }
            #expect(try await missing(url, ofCluster: true) == [right], "without \(right)")
        }
    }

    @Test("the user of the file has no other permissions")
    func least() async throws {
        let redis = try await RedisServer()
        for command in [
            ["KEYS", "*"], ["FLUSHALL"], ["CONFIG", "GET", "*"], ["ACL", "WHOAMI"], ["CLIENT", "LIST"],
            ["GET", "secret"],
            ["PUBLISH", "news", ""], ["SCRIPT", "FLUSH"], ["EVAL", "return redis.call('GET', 'secret')", "0"],
        ] {
            let answer = try await redis.cli(["-u", redis.url] + command)
            #expect(answer.contains("NOPERM") || answer.contains("can't access"), "\(command): \(answer)")
        }
    }
}
