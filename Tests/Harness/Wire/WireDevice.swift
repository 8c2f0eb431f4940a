// A device that speaks only the protocol: it has no reconnecting, debounce or timers.

internal import Foundation
public import RollcallProtocol
internal import TestSupport

/// One WebSocket session. Incoming messages are read only when the test asks for them.
public final class WireDevice {
    private let socket: RawWebSocket
    private let codec = MessageCodec()
    private var lastID: Int64 = 0
    /// All messages received so far.
    public private(set) var messages: [ServerMessage] = []
    /// How the session ended, if it did; the code is `nil` if the connection ended without a close frame.
    public private(set) var close: Close?

    public struct Close: Hashable {
        public var code: CloseCode?
    }

    /// - Parameter receiveBuffer: with a small one, a worker soon notices that the client does not read.
    public init(port: Int, receiveBuffer: Int32? = nil) async throws {
        socket = try await RawWebSocket(port: port, receiveBuffer: receiveBuffer)
    }

    /// Sends a `hello` and waits for the welcome.
    public func hello(token: String, device: String, state: DeviceState = .active) async throws {
        let device = try DeviceID(device)
        try await send(.hello(.init(token: ByteString(token), device: device, state: state)))
        try await eventually("\(token)'s \(device) is welcomed, having heard \(messages)") {
            try await welcome() != nil
        }
    }

    /// Sends a message under a new id.
    @discardableResult
    public func send(_ message: ClientMessage) async throws -> MessageID {
        lastID += 1
        let request = ClientRequest(message, id: .integer(lastID))
        try await socket.send(String(decoding: codec.json(of: request), as: UTF8.self))
        return .integer(lastID)
    }

    /// Sends a message and waits for its reply.
    ///
    /// - Returns: the error; `nil` if the message was acknowledged.
    @discardableResult
    public func ask(_ message: ClientMessage) async throws -> MessageError? {
        let id = try await send(message)
        var error: MessageError?
        try await eventually("\(message) is answered, having heard \(messages)") {
            try await look()
            return messages.contains {
                if case .error(let found) = $0, found.id == id { error = found }
                return $0 == .ack(id) || error != nil
            }
        }
        return error
    }

    public func send(text: String) async throws { try await socket.send(text) }
    public func send(opcode: UInt8, _ payload: [UInt8]) async throws { try await socket.send(opcode: opcode, payload) }

    /// Closes the connection without a close frame.
    public func drop() {
        socket.drop()
    }

    /// Reads what has arrived since the last call.
    ///
    /// - Returns: the new messages.
    @discardableResult
    public func look() async throws -> [ServerMessage] {
        var news: [ServerMessage] = []
        for event in try await socket.events() {
            switch event {
            case .text(let text): news.append(try codec.message(from: Data(text.utf8)))
            case .closed(let code): close = close ?? Close(code: code.map { CloseCode(rawValue: UInt16($0)) })
            }
        }
        messages += news
        return news
    }

    /// Waits until the worker ends the session.
    ///
    /// - Returns: the close code.
    public func closed(within limit: Duration = .seconds(30)) async throws -> CloseCode? {
        try await eventually("the worker closes, having said \(messages)", within: limit) {
            try await look()
            return close != nil
        }
        return close?.code
    }

    public func welcome() async throws -> ServerMessage.Welcome? {
        try await look()
        return messages.lazy.compactMap { if case .welcome(let welcome) = $0 { welcome } else { nil } }.first
    }

    /// The last update about who is typing in a conversation.
    /// Who is here, as last told; `nil` before that.
    public func here(in conversation: ConversationID) async throws -> ServerMessage.Here? {
        try await look()
        return messages.reversed().lazy.compactMap {
            if case .here(let here) = $0, here.conversation == conversation { here } else { nil }
        }.first
    }

    public func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing? {
        try await look()
        return messages.reversed().lazy.compactMap {
            if case .typing(let typing) = $0, typing.conversation == conversation { typing } else { nil }
        }.first
    }
}
