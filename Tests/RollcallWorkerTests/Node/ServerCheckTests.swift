// Which Redis a worker refuses at its start, and what it says of one that lacks something later.

import Logging
import NIOPosix
import RollcallProtocol
import RollcallRedis
import TestSupport
import Testing

@testable import RollcallServer

@Suite("Half a Redis", .timeLimit(.minutes(2)))
struct ServerCheckTests {
    /// Starts a node, and stops it after `body`.
    private func node(_ url: String, events: Bool = false, _ body: (Node) async throws -> Void = { _ in }) async throws
    {
        var configuration = WorkerConfiguration()
        configuration.redis.url = url
        configuration.redis.connectTimeout = .seconds(2)
        configuration.events.enabled = events
        let node = try await Node(
            NodeSettings(configuration), group: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() })
        let result: Result<Void, any Error>
        do {
            try await node.start(edge: "", host: "test") { 0 }
            result = .success(try await body(node))
        } catch {
            result = .failure(error)
        }
        try await node.stop()
        try result.get()
    }

    private func refusal(_ url: String) async throws -> String {
        do {
            try await node(url)
            return "none"
        } catch let error as CannotServe {
            return error.description
        }
    }

    /// Regression: a worker was ready, and joins were never answered; or only the first of several rights was named.
    @Test(
        "a start names what is missing",
        arguments: [
            (["-hset", "-srem"], ["+hset", "+srem"]), (["-zadd", "-hexists"], ["+zadd", "+hexists"]),
            (["-@all", "+@read", "+@connection"], ["+evalsha"]),
            (["resetkeys", "~{workers}*"], ["~here:{*}", "~presence:{*}"]),
            (["resetchannels", "&worker:*"], ["&here:{*}", "&presence:{*}"]), (["-subscribe"], ["+subscribe"]),
        ])
    func lacking(rules: [String], names: [String]) async throws {
        let redis = try await RedisServer(hasUsers: false)
        try await redis.cli(["ACL", "SETUSER", "default"] + rules)
        let refusal = try await refusal(redis.openURL)
        for name in names { #expect(refusal.contains(name), "\(refusal)") }
    }

    @Test("on a cluster, each primary is tried")
    func cluster() async throws {
        let set = try await RedisClusterSet()
        try await set.servers[2].cli("ACL", "SETUSER", "default", "-hset")
        #expect(try await refusal(set.openURL).contains("+hset"))
        try await set.servers[2].cli("ACL", "SETUSER", "default", "+hset", "-ssubscribe")
        #expect(try await refusal(set.openURL).contains("+ssubscribe"))
        try await set.servers[2].cli("ACL", "SETUSER", "default", "+ssubscribe")
        try await node(set.openURL)
    }

    @Test("a Redis that knows no SUBSCRIBE is refused")
    func deaf() async throws {
        let redis = try await RedisServer(options: ["--rename-command", "SUBSCRIBE", ""], hasUsers: false)
        #expect(try await refusal(redis.openURL).lowercased().contains("subscribe"))
    }

    @Test("without ROLE, INFO, MULTI and the rights for events that are off, a worker starts")
    func spare() async throws {
        let redis = try await RedisServer(hasUsers: false)
        try await redis.cli("ACL", "SETUSER", "default", "-role", "-info", "-multi", "-discard", "-client")
        try await node(redis.openURL)
        let other = try await RedisServer(hasUsers: false)
        try await other.cli("ACL", "SETUSER", "default", "-xadd", "-xrange")
        try await node(other.openURL)
        await #expect(throws: CannotServe.self) { try await node(other.openURL, events: true) }
    }

    /// Regression: connections for messages stayed at a replica.
    @Test("a replica is refused by name, as long as it says that it is one")
    func replica() async throws {
        let (primary, other) = (try await RedisServer(hasUsers: false), try await RedisServer(hasUsers: false))
        try await other.cli("REPLICAOF", "127.0.0.1", "\(primary.port)")
        #expect(try await refusal(other.openURL).contains("leads to a replica"))
    }

    @Test("a right that is lost later is named while the worker stays ready, and forgotten once it is back")
    func lost() async throws {
        let redis = try await RedisServer(hasUsers: false)
        try await node(redis.openURL) { node in
            #expect(node.reason == nil && !node.lacksRights)
            try await redis.cli("ACL", "SETUSER", "default", "-hexists", "-hscan")
            _ = try? await node.membersPage(of: ConversationID("c"), from: 0, limit: 5)
            try await node.setMembers([:], of: ConversationID("c"))
            await #expect(throws: Unavailable.self) {
                _ = try await node.membersPage(of: ConversationID("c"), from: 7, limit: 5)
            }
            try await eventually("it is named") { node.reason?.contains("+hexists") == true }
            #expect(node.isReady && node.reason?.contains("+hscan") == true)
            do {
                _ = try await node.membersPage(of: ConversationID("c"), from: 7, limit: 5)
            } catch let error as Unavailable {
                #expect("\(error)".contains("denies the worker a right") && "\(error)".contains("HSCAN"), "\(error)")
            }
            try await redis.cli("ACL", "SETUSER", "default", "+hexists", "+hscan")
            node.alarm.yield(.minute)
            try await eventually("it is forgotten") { node.reason == nil }
        }
    }

    /// Regression: the connection counted as one, and joins were never answered.
    @Test("connections whose subscriptions are refused count as missing")
    func refused() async throws {
        let redis = try await RedisServer(hasUsers: false)
        try await node(redis.openURL) { node in
            try await redis.cli("ACL", "SETUSER", "default", "-subscribe")
            try await redis.cli("CLIENT", "KILL", "TYPE", "pubsub")
            try await eventually("it is missing") {
                try await node.first { $0.subscriber.links.values.contains(false) && $0.lastError?.isDenied == true }
            }
            try await redis.cli("ACL", "SETUSER", "default", "+subscribe")
            try await eventually("it is back") { try await node.first { !$0.subscriber.links.values.contains(false) } }
        }
    }
}

extension Node {
    fileprivate var lacksRights: Bool { lacking != nil }
}
