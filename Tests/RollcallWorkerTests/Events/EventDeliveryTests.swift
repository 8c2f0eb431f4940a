// What a webhook receives: from nodes on a private Redis, over real HTTP.

import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import RollcallProtocol
@testable import RollcallServer
@testable import RollcallWorker

@Suite("Webhooks", .timeLimit(.minutes(2)))
struct EventDeliveryTests {
    /// The example of the standard's libraries.
    @Test("deliveries are signed as Standard Webhooks says, with both secrets during a rotation")
    func signature() throws {
        let first = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let (id, time) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", Int64(1_614_265_330))
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(
            try WebhookKeys(Secret(first.utf8), key: "k").signature(id: id, timestamp: time, body: body) == expected)
        let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        let both = try WebhookKeys(Secret("\(other)\n\(first)\n".utf8), key: "k").signature(
            id: id, timestamp: time, body: body)
        #expect(both.split(separator: " ").count == 2 && both.hasSuffix(" " + expected))
        for wrong in [
            "", "whsec_", "whsec_AAAA", first + "\n" + first + "\n" + first, String(first.dropFirst()), "whsec_?",
        ] {
            #expect(throws: UnusableFile.self, "\(wrong)") { try WebhookKeys(Secret(wrong.utf8), key: "k") }
        }
    }

    @Test("events arrive in order, each batch again under one ID until it is taken, and a redirect is not taken")
    func repeated() async throws {
        let receiver = try await Receiver([.found, .internalServerError, nil])
        try await withDeliverers(1, to: receiver) { redis in
            // The reset of the worker's start comes alone: a batch of several would be tried in parts.
            try await eventually("the reset is tried") { !receiver.attempts.isEmpty }
            try await redis.append("alice online 1", "bob online 2", "alice offline 3")
            try await eventually("all is delivered") { receiver.taken.last?.contains("alice offline") == true }
        }
        let attempts = receiver.attempts
        #expect(attempts.count >= 4)
        #expect(Set(attempts.prefix(4).map(\.id)).count == 1, "\(attempts.map(\.id))")
        #expect(Set(attempts.prefix(4).map(\.body)).count == 1)
        #expect(attempts.allSatisfy { $0.isSigned && $0.path == "/hook?x=1" })
        #expect(receiver.taken.filter { $0 != "reset" } == ["alice online 1", "bob online 2", "alice offline 3"])
        #expect(receiver.taken.first == "reset", "a receiver that was told nothing begins with a reset")
    }

    @Test("one worker delivers at a time, and the next goes on where it stopped")
    func takenOver() async throws {
        let receiver = try await Receiver([])
        try await withDeliverers(2, to: receiver) { redis in
            for number in 1...150 {
                try await redis.append("alice \(number % 2 == 0 ? "offline" : "online") \(number)")
            }
            try await eventually("all is delivered") { receiver.taken.last == "alice offline 150" }
        }
        #expect(receiver.taken.count { $0 != "reset" } == 150, "nothing comes twice")
        #expect(receiver.mostEvents <= 100)
        try await withDeliverers(1, on: receiver.redis, to: receiver) { redis in
            try await redis.append("alice online 151")
            try await eventually("it goes on") { receiver.taken.last == "alice online 151" }
        }
        #expect(receiver.taken.count { $0 != "reset" } == 151)
    }

    @Test("if entries behind the position were trimmed or lost, a reset comes first")
    func trimmed() async throws {
        let receiver = try await Receiver([])
        try await withDeliverers(1, to: receiver) { redis in
            try await redis.append("alice online 1")
            try await eventually("the first is delivered") { receiver.taken.last == "alice online 1" }
            receiver.answer(with: Array(repeating: .serviceUnavailable, count: 3))
            try await redis.append("alice offline 2", "alice online 3")
            try await eventually("it is refused") { receiver.attempts.last?.body.contains("alice") == true }
            try await redis.command("XTRIM", "events", "MAXLEN", "1")
        }
        // A worker that starts has no batch in hand.
        let before = receiver.taken.count
        try await withDeliverers(1, on: receiver.redis, to: receiver) { _ in
            try await eventually("it is told") { receiver.taken.last == "alice online 3" }
        }
        #expect(receiver.taken.dropFirst(before).contains("reset"))
    }

    /// Regression: a receiver that needed longer for a hundred events than it had, or died of them, got the same hundred for ever.
    @Test(
        "what is too much at once is delivered in parts, each under an ID of its own",
        arguments: [HTTPResponseStatus.payloadTooLarge, nil])
    func halved(answer: HTTPResponseStatus?) async throws {
        let receiver = try await Receiver([])
        receiver.judge { $0.count > 20 ? answer : .ok }
        try await withDeliverers(1, to: receiver) { redis in
            for number in 1...60 { try await redis.append("alice online \(number)") }
            try await eventually("all is delivered") { receiver.taken.last == "alice online 60" }
        }
        #expect(receiver.taken.filter { $0 != "reset" } == (1...60).map { "alice online \($0)" })
        #expect(Set(receiver.attempts.map(\.id)).count == receiver.attempts.count)
    }

    /// Regression: nothing behind it was delivered any more.
    @Test(
        "a reset takes the place of an event that is never taken, once the one behind it is",
        arguments: [HTTPResponseStatus.badRequest, nil])
    func replaced(answer: HTTPResponseStatus?) async throws {
        let receiver = try await Receiver([])
        receiver.judge { $0.contains { $0.contains("zoe") } ? answer : .ok }
        let redis = try await RedisServer()
        try await redis.append("zoe online 1", "bob online 2", "alice offline 3")
        // It was refused nine times before, alone.
        try await redis.command("HSET", "events:state", "attempts", "9 0 1 9 -")
        try await withDeliverers(1, on: redis, to: receiver) { _ in
            try await eventually("all is delivered") { receiver.taken.contains("alice offline 3") }
        }
        // The reset of the worker that starts follows.
        #expect(receiver.taken.prefix(4) == ["bob online 2", "reset", "bob online 2", "alice offline 3"])
    }

    /// Regression: it ended the worker, kept new ones from starting, or stopped delivery without a word.
    @Test(
        "whatever another program writes to events:state, workers start, and deliver or say why not",
        arguments: [
            ["attempts", "9223372036854775807 0 99 0 -"], ["attempts", "0 0 1 9223372036854775807 -"],
            ["attempts", "\u{7F}x"], ["claimed_at", "abc"], ["claimed_for", "1e999"], ["deliverer", ""],
            ["reset", "abc"],
            ["run", "abc"], ["delivered", "x"], ["delivered", "99999999999999999999-1"], ["offered", "abc"], nil,
        ])
    func foreign(field: [String]?) async throws {
        let receiver = try await Receiver([])
        let redis = try await RedisServer()
        try await redis.append("alice online 1")
        if let field {
            try await redis.command("HSET", "events:state", "deliverer", "w9.1", field[0], field[1])
        } else {
            try await redis.command("SET", "events:state", "abc")
        }
        let (metrics, ring) = (PrometheusMetrics(), EventRing())
        try await withDeliverers(1, on: redis, to: receiver, metrics: metrics, log: ring) { _ in
            if field == nil {
                try await eventually("it says why not") {
                    ring.events.contains { "\($0)".contains("WRONGTYPE") }
                }
                #expect(!metrics.exposition().contains("\nrollcall_webhook_age_seconds "), "nobody knows it")
            } else {
                try await eventually("it delivers") { receiver.taken.contains("alice online 1") }
                try await eventually("nothing waits") {
                    metrics.exposition().contains("\nrollcall_webhook_age_seconds 0\n")
                }
            }
        }
    }

    @Test("an answer that is long, late or missing costs one attempt each, and nothing else")
    func unkind() async throws {
        let receiver = try await Receiver([])
        receiver.answer(with: [nil, .processing, .ok])
        try await withDeliverers(1, to: receiver, timeout: .seconds(1)) { redis in
            try await redis.append("alice online 1")
            try await eventually("it is delivered") { receiver.taken.last == "alice online 1" }
        }
        #expect(receiver.taken.count { $0 == "alice online 1" } == 1, "a long answer counts by its status")
    }
}

/// Runs as many deliverers on one Redis.
private func withDeliverers(
    _ count: Int, on server: RedisServer? = nil, to receiver: Receiver, timeout: Duration = .seconds(5),
    metrics: PrometheusMetrics = PrometheusMetrics(), log: EventRing = EventRing(),
    _ body: (RedisServer) async throws -> Void
) async throws {
    let redis: RedisServer
    if let server { redis = server } else { redis = try await RedisServer() }
    receiver.keep(redis)
    var configuration = WorkerConfiguration()
    configuration.redis.url = redis.url
    configuration.events.enabled = true
    configuration.events.webhook.url = "http://127.0.0.1:\(receiver.port)/hook?x=1"
    configuration.events.webhook.secret = Receiver.secret
    configuration.events.webhook.timeout = timeout
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }.kept(in: log)
    var stops: [() async throws -> Void] = []
    for number in 0..<count {
        configuration.worker.id = "w\(number)"
        let node = try await Node(
            NodeSettings(configuration), group: MultiThreadedEventLoopGroup.singleton.next(), logger: logger)
        try await node.start(edge: "", host: "test") { 0 }
        let task = Task { [configuration] in
            await EventDelivery(configuration, node: node, metrics: metrics, logger: logger).run()
        }
        stops.append {
            task.cancel()
            await task.value
            try await node.stop()
        }
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body(redis)) } catch { result = .failure(error) }
    for stop in stops { try await stop() }
    try result.get()
}

extension RedisServer {
    /// Appends `USER STATUS VERSION` each.
    fileprivate func append(_ entries: String...) async throws {
        for entry in entries {
            let words = entry.split(separator: " ").map(String.init)
            try await command(
                "XADD", "events", "*", "user", words[0], "status", words[1], "version", words[2], "at", "1790000000000")
        }
    }

    fileprivate func command(_ words: String...) async throws {
        let shell = try ChildProcess(["redis-cli", "-p", "\(port)"] + words)
        #expect(try await shell.exitCode() == 0)
    }
}

/// A backend that notes what it is sent.
private final class Receiver: Sendable {
    static let secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8)

    struct Attempt {
        var id: String
        var path: String
        var body: String
        var isSigned: Bool
    }

    private struct State {
        var attempts: [Attempt] = []
        var taken: [String] = []
        var mostEvents = 0
        /// What the next requests are answered; `nil` closes the connection. Then all are taken, with a long answer.
        var answers: [HTTPResponseStatus?] = []
        /// What they are answered, by their events, once there are no such answers.
        var judge: @Sendable ([String]) -> HTTPResponseStatus? = { _ in .ok }
        var redis: RedisServer?
    }

    private let state = NIOLockedValueBox(State())
    private let channel: any Channel

    init(_ answers: [HTTPResponseStatus?]) async throws {
        state.withLockedValue { $0.answers = answers }
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { [state] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    var port: Int { channel.localAddress?.port ?? 0 }
    var attempts: [Attempt] { state.withLockedValue { $0.attempts } }
    /// `USER STATUS VERSION`, or `reset`, of what was answered with success.
    var taken: [String] { state.withLockedValue { $0.taken } }
    var mostEvents: Int { state.withLockedValue { $0.mostEvents } }
    var redis: RedisServer? { state.withLockedValue { $0.redis } }

    func keep(_ redis: RedisServer) { state.withLockedValue { $0.redis = redis } }
    func judge(_ judge: @escaping @Sendable ([String]) -> HTTPResponseStatus?) {
        state.withLockedValue { $0.judge = judge }
    }
    func answer(with answers: [HTTPResponseStatus?]) { state.withLockedValue { $0.answers = answers } }

    private final class Handler: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let state: NIOLockedValueBox<State>
        private let request = NIOLockedValueBox<(head: HTTPRequestHead, body: [UInt8])?>(nil)

        init(_ state: NIOLockedValueBox<State>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): request.withLockedValue { $0 = (head, []) }
            case .body(let bytes): request.withLockedValue { $0?.body += Array(bytes.readableBytesView) }
            case .end: ended(context)
            }
        }

        private func ended(_ context: ChannelHandlerContext) {
            guard let (head, body) = request.withLockedValue({ $0 }) else { return }
            let status: HTTPResponseStatus? = state.withLockedValue { state in
                let headers = head.headers
                let (id, time) = (
                    headers["webhook-id"].first ?? "", Int64(headers["webhook-timestamp"].first ?? "") ?? 0
                )
                let expected = try? WebhookKeys(Receiver.secret, key: "k").signature(
                    id: id, timestamp: time, body: body)
                state.attempts.append(
                    Attempt(
                        id: id, path: head.uri, body: String(decoding: body, as: UTF8.self),
                        isSigned: headers["webhook-signature"].first == expected))
                let events = Self.events(in: body)
                state.mostEvents = max(state.mostEvents, events.count)
                let status = state.answers.isEmpty ? state.judge(events) : state.answers.removeFirst()
                if status == .ok { state.taken += events }
                return status
            }
            // Whoever is processing does not answer in time.
            guard status != .processing else { return }
            guard let status else { return context.close(promise: nil) }
            context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status))), promise: nil)
            let long = ByteBuffer(repeating: 0x20, count: 100_000)
            context.write(wrapOutboundOut(.body(.byteBuffer(long))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        private static func events(in body: [UInt8]) -> [String] {
            let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
            return (object?["events"] as? [[String: Any]] ?? []).map {
                $0["type"] as? String ?? "\($0["user"] ?? "") \($0["status"] ?? "") \($0["version"] ?? "")"
            }
        }
    }
}
