// What an app's server knows from the events alone: one that follows them over HTTP, and one that they are delivered to.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RollcallClient

/// What one reader of the events has written down.
final class Ledger: Sendable {
    struct State {
        var people: [UserID: (isThere: Bool, version: Int64)] = [:]
        /// Who came or went, in order.
        var changes: [(user: UserID, isThere: Bool, at: Moment)] = []
        var resets = 0
        /// Whether the reader has stopped for now.
        var isAsleep = false
    }

    private struct Entry: Decodable {
        var type: String?
        var user: UserID?
        var status: PresenceStatus?
        var version: Int64?
    }

    private struct Page: Decodable {
        var events: [Entry]
        var next: String?
    }

    private struct People: Decodable { var users: [Presence] }
    private struct NoAnswer: Error {}

    let name: String
    private let state = NIOLockedValueBox(State())
    private let hosts: NIOLockedValueBox<[Host]>
    private let users: @Sendable () -> [UserID]

    init(_ name: String, hosts: NIOLockedValueBox<[Host]>, users: @escaping @Sendable () -> [UserID]) {
        (self.name, self.hosts, self.users) = (name, hosts, users)
    }

    var resets: Int { state.withLockedValue { $0.resets } }
    var people: [UserID: Bool] { state.withLockedValue { $0.people.mapValues(\.isThere) } }
    func changes(since moment: Moment) -> [(user: UserID, isThere: Bool, at: Moment)] {
        state.withLockedValue { $0.changes.filter { $0.at >= moment } }
    }

    func sleep(_ isAsleep: Bool) { state.withLockedValue { $0.isAsleep = isAsleep } }

    /// Follows the stream through any worker that answers, until it is cancelled.
    func follow() async {
        var next = "0"
        while !Task.isCancelled {
            do {
                guard !state.withLockedValue({ $0.isAsleep }) else { throw NoAnswer() }
                let page: Page = try await ask("GET", "/v1/events?after=\(next)&wait=1s")
                try await take(page.events)
                next = page.next ?? next
            } catch {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Takes a delivery, or only the first half of it.
    func take(_ body: Data, half: Bool = false) async throws {
        let events = try JSONDecoder().decode(Page.self, from: body).events
        try await take(half ? Array(events.prefix((events.count + 1) / 2)) : events)
    }

    /// Of each user, the greatest version since the last reset counts.
    private func take(_ events: [Entry]) async throws {
        for event in events {
            if let user = event.user, let status = event.status, let version = event.version {
                take(user, status, version)
                continue
            }
            let everybody = users()
            let body = try everybody.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
            let read: People = try await ask(
                "POST", "/v1/presence", json: "{\"users\":[\(body.joined(separator: ","))],\"stored\":true}")
            state.withLockedValue { state in
                state.resets += 1
                for user in state.people.keys { state.people[user]?.version = -1 }
            }
            for presence in read.users { take(presence.user, presence.status, presence.version) }
        }
    }

    private func take(_ user: UserID, _ status: PresenceStatus, _ version: Int64) {
        state.withLockedValue { state in
            let known = state.people[user]
            guard version > known?.version ?? -1 else { return }
            let isThere = status != .offline
            state.people[user] = (isThere, version)
            if isThere != known?.isThere ?? false { state.changes.append((user, isThere, .now)) }
        }
    }

    /// Reads who is there, as a worker says.
    func truth() async throws -> [UserID: Bool] {
        let body = try users().map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        let read: People = try await ask("POST", "/v1/presence", json: "{\"users\":[\(body.joined(separator: ","))]}")
        return Dictionary(read.users.map { ($0.user, $0.status != .offline) }) { $1 }
    }

    private func ask<Answer: Decodable>(_ method: String, _ path: String, json: String? = nil) async throws -> Answer {
        guard let port = hosts.withLockedValue({ $0 }).compactMap(\.running).randomElement()?.adminPort else {
            throw NoAnswer()
        }
        let answer = try await HTTPLine(port: port).send(method, path, json: json, within: .seconds(3))
        guard answer.status == 200 else { throw NoAnswer() }
        return try JSONDecoder().decode(Answer.self, from: Data(answer.body.readableBytesView))
    }
}

/// A server that receives deliveries, and what can be wrong with it.
final class WebhookServer: Sendable {
    enum Manner: String, CaseIterable {
        case works, down, slow, refuses, diesHalfway
    }

    let ledger: Ledger
    let port: Int
    private let manner = NIOLockedValueBox(Manner.works)
    private let channel: any Channel

    init(_ ledger: Ledger) async throws {
        self.ledger = ledger
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { [manner] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(ledger, manner))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    func become(_ manner: Manner) { self.manner.withLockedValue { $0 = manner } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let ledger: Ledger
        private let manner: NIOLockedValueBox<Manner>
        private var body = Data()

        init(_ ledger: Ledger, _ manner: NIOLockedValueBox<Manner>) { (self.ledger, self.manner) = (ledger, manner) }

        func channelActive(context: ChannelHandlerContext) {
            if manner.withLockedValue({ $0 }) == .down { context.close(promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: body = Data()
            case .body(let bytes): body += bytes.readableBytesView
            case .end:
                Self.take(body, manner.withLockedValue { $0 }, ledger, context.channel)
            }
        }

        private static func take(_ body: Data, _ manner: Manner, _ ledger: Ledger, _ channel: any Channel) {
            Task {
                switch manner {
                case .down, .slow: return
                case .refuses: answer(.internalServerError, channel)
                case .diesHalfway:
                    try? await ledger.take(body, half: true)
                    channel.close(promise: nil)
                case .works:
                    let isTaken = (try? await ledger.take(body)) != nil
                    answer(isTaken ? .noContent : .serviceUnavailable, channel)
                }
            }
        }

        private static func answer(_ status: HTTPResponseStatus, _ channel: any Channel) {
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["content-length": "0"])
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        }
    }
}
