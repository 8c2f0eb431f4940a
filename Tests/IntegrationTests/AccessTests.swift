// An app's server that decides who may join, with real workers and a real Redis.

import Crypto
import Foundation
import Harness
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import RollcallClient
import RollcallProtocol
import RollcallWorker
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2))) struct AccessTests {
    private static func deployment(_ app: AppServer) async throws -> Deployment {
        try await Deployment(
            workers: 2,
            settings: [
                "conversations.default": "", "access.watch": "shared",
                "access.url": "http://127.0.0.1:\(app.port)/access",
                "access.secret_file": app.secretFile.path, "access.timeout": "500ms",
            ])
    }

    @Test("whom the app's server admits is in, on all workers, is asked about once, and is put out after a drop")
    func decides() async throws {
        let app = try await AppServer()
        let deployment = try await Self.deployment(app)
        let (worker, other) = (deployment.workers[0], deployment.workers[1])
        app.admit(["alice", "bob"], to: "c")
        let alice = try await worker.device("alice", "phone")
        #expect(try await alice.ask(.join("c", presence: true)) == nil)
        let bob = try await other.device("bob", "phone")
        #expect(try await bob.ask(.join("c", presence: true)) == nil)
        try await eventually("they see each other") {
            try await bob.look()
            return bob.messages.newest("alice")?.status == .online
        }
        let mallory = try await other.device("mallory", "phone")
        #expect(try await mallory.ask(.join("c", presence: true))?.code == .notAMember)
        let asked = app.asked
        #expect(asked.count == 3 && app.unsigned == 0)
        // Elsewhere, later, on another device: nothing is asked.
        let laptop = try await other.device("alice", "laptop")
        #expect(try await laptop.ask(.join("c", presence: false)) == nil)
        #expect(app.asked.count == asked.count)
        let explained = try await other.ask("GET", "/v1/conversations/c/access/alice")
        let access = try JSONDecoder().decode(AdminAccess.self, from: explained.body)
        #expect(access.by == .url && access.mayJoin == true && access.until != nil && access.problem == nil)
        app.admit(["alice"], to: "c")
        #expect(try await worker.ask("DELETE", "/v1/conversations/c/access/bob").status == 204)
        try await eventually("bob is out") {
            try await bob.look()
            return bob.messages.contains(.removed("c"))
        }
        try await alice.look()
        #expect(!alice.messages.contains(.removed("c")))
        #expect(try await bob.ask(.join("c", presence: false))?.code == .notAMember)
        let metrics = String(decoding: try await worker.ask("GET", "/metrics").body, as: UTF8.self)
        for name in [#"questions_total{result="allowed"}"#, "waiting", "seconds_count"] {
            #expect(metrics.contains("rollcall_access_\(name) "))
        }
    }

    @Test("while the app's server is away, joins wait and nobody leaves; they go on when it is back")
    func away() async throws {
        let app = try await AppServer()
        let deployment = try await Self.deployment(app)
        let worker = deployment.workers[0]
        app.admit(["alice", "bob"], to: "c")
        let alice = try await worker.device("alice", "phone")
        #expect(try await alice.ask(.join("c", presence: false)) == nil)
        for trouble in [
            AppServer.Trouble.status(503), .status(500), .hangs, .body("[]"), .body(#"{"answers":[]}"#),
            .body(#"{"answers":[{"user":"mallory","conversation":"c","allow":true}]}"#),
        ] {
            app.trouble = trouble
            let bob = try await deployment.workers[1].device("bob", "\(trouble)".filter(\.isLetter))
            _ = try await worker.ask("DELETE", "/v1/conversations/c/access/bob")
            async let joined = bob.ask(.join("c", presence: false))
            try await Task.sleep(for: .seconds(1.5))
            try await alice.look()
            #expect(!alice.messages.contains(.removed("c")), "\(trouble)")
            app.trouble = nil
            #expect(try await joined == nil, "\(trouble)")
        }
        #expect(app.unsigned == 0)
    }
}

/// An app's server that answers who may join.
final class AppServer: Sendable {
    enum Trouble: Sendable {
        case status(Int)
        case hangs
        case body(String)
    }

    private struct State {
        var admitted: [String: Set<String>] = [:]
        var asked: [String] = []
        var unsigned = 0
        var trouble: Trouble?
    }

    let secretFile: URL
    private let state = NIOLockedValueBox(State())
    private let channel: any Channel

    init() async throws {
        let key = SymmetricKey(size: .bits256)
        secretFile = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID()).secret")
        let text = "whsec_" + key.withUnsafeBytes { Data($0) }.base64EncodedString()
        try Data(text.utf8).write(to: secretFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secretFile.path)
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { [state] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(state, key))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit {
        channel.close(promise: nil)
        try? FileManager.default.removeItem(at: secretFile)
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    /// `USER CONVERSATION` of each question that was answered.
    var asked: [String] { state.withLockedValue { $0.asked } }
    /// Requests that were not signed with the secret.
    var unsigned: Int { state.withLockedValue { $0.unsigned } }
    var trouble: Trouble? {
        get { state.withLockedValue { $0.trouble } }
        set { state.withLockedValue { $0.trouble = newValue } }
    }

    func admit(_ users: Set<String>, to conversation: String) {
        state.withLockedValue { $0.admitted[conversation] = users }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let state: NIOLockedValueBox<State>
        private let key: SymmetricKey
        private var headers = HTTPHeaders()
        private var body = Data()

        init(_ state: NIOLockedValueBox<State>, _ key: SymmetricKey) { (self.state, self.key) = (state, key) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (headers, body) = (head.headers, Data())
            case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
            case .end: answer(context)
            }
        }

        private func answer(_ context: ChannelHandlerContext) {
            let signed = "\(headers.first(name: "webhook-id") ?? "").\(headers.first(name: "webhook-timestamp") ?? "")."
            let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8) + body, using: key)
            let isSigned = headers.first(name: "webhook-signature") == "v1," + Data(code).base64EncodedString()
            let (status, text): (Int, String?) = state.withLockedValue { state in
                if !isSigned { state.unsigned += 1 }
                switch state.trouble {
                case .status(let status): return (status, "")
                case .hangs: return (200, nil)
                case .body(let text): return (200, text)
                case nil: return (200, answers(&state))
                }
            }
            guard let text else { return }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: status),
                headers: ["content-length": "\(text.utf8.count)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        private func answers(_ state: inout State) -> String {
            struct Questions: Decodable {
                struct Question: Decodable {
                    var user: String
                    var conversation: String
                }
                var questions: [Question]
            }
            let questions = (try? JSONDecoder().decode(Questions.self, from: body))?.questions ?? []
            // The order of answers means nothing.
            let items = questions.reversed().map { question in
                let people = state.admitted[question.conversation, default: []]
                state.asked.append("\(question.user) \(question.conversation)")
                let list = people.sorted().map { "\"\($0)\"" }.joined(separator: ",")
                return "{\"user\":\"\(question.user)\",\"conversation\":\"\(question.conversation)\","
                    + "\"allow\":\(people.contains(question.user)),\"people\":[\(list)]}"
            }
            return "{\"answers\":[\(items.joined(separator: ","))]}"
        }
    }
}
