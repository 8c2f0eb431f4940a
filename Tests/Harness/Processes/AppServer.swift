// An app's server that says who may join, as `access.url` names it.

internal import Crypto
internal import Foundation
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An app's server that answers who may join.
public final class AppServer: Sendable {
    public enum Trouble: Sendable {
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

    /// Whether it admits everybody everywhere, or only whom it is told.
    private let admitsAll: Bool
    private let secretFile: URL
    private let state = NIOLockedValueBox(State())
    private let channel: any Channel

    public init(admitsAll: Bool = false) async throws {
        self.admitsAll = admitsAll
        let key = SymmetricKey(size: .bits256)
        secretFile = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID()).secret")
        let text = "whsec_" + key.withUnsafeBytes { Data($0) }.base64EncodedString()
        try Data(text.utf8).write(to: secretFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secretFile.path)
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { [state] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(state, key, admitsAll))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit {
        channel.close(promise: nil)
        try? FileManager.default.removeItem(at: secretFile)
    }

    /// What workers need to ask it.
    public var configuration: [String: String] {
        [
            "access.url": "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/access",
            "access.secret_file": secretFile.path,
        ]
    }

    /// `USER CONVERSATION` of each question that was answered.
    public var asked: [String] { state.withLockedValue { $0.asked } }
    /// Requests that were not signed with the secret.
    public var unsigned: Int { state.withLockedValue { $0.unsigned } }
    public var trouble: Trouble? {
        get { state.withLockedValue { $0.trouble } }
        set { state.withLockedValue { $0.trouble = newValue } }
    }

    public func admit(_ users: Set<String>, to conversation: String) {
        state.withLockedValue { $0.admitted[conversation] = users }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let state: NIOLockedValueBox<State>
        private let key: SymmetricKey
        private let admitsAll: Bool
        private var headers = HTTPHeaders()
        private var body = Data()

        init(_ state: NIOLockedValueBox<State>, _ key: SymmetricKey, _ admitsAll: Bool) {
            (self.state, self.key, self.admitsAll) = (state, key, admitsAll)
        }

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
            struct Question: Codable {
                var user: String
                var conversation: String
                var allow: Bool?
                var people: [String]?
            }
            struct Body: Codable {
                var questions: [Question]?
                var answers: [Question]?
            }
            var answers = (try? JSONDecoder().decode(Body.self, from: body))?.questions ?? []
            for index in answers.indices {
                let people = state.admitted[answers[index].conversation, default: []]
                state.asked.append("\(answers[index].user) \(answers[index].conversation)")
                answers[index].allow = admitsAll || people.contains(answers[index].user)
                answers[index].people = people.sorted()
            }
            // The order of answers means nothing.
            return String(
                decoding: (try? JSONEncoder().encode(Body(answers: answers.reversed()))) ?? Data(), as: UTF8.self)
        }
    }
}
