// Responses to requests that do not open a WebSocket: errors, and what a health check is told.

import NIOCore
import NIOHTTP1
import RollcallCore

/// Why a request does not become a WebSocket: an HTTP status and an explanation.
struct Refusal: Error, Hashable, Sendable {
    let status: HTTPResponseStatus
    let sentence: String
    var headers: [String: String] = [:]

    /// The limit that it enforces, if any.
    var limit: Limit?

    static let notHere = Refusal(
        status: .notFound,
        sentence: "There is nothing at this path. The WebSocket is at \(Handshake.path); the HTTP routes are on the "
            + "admin port.")
    static let serving = Refusal(status: .ok, sentence: "This worker takes devices.")
    /// What a client asks that wants to know whether a worker is there: such an answer is no error in a browser's console.
    static let probe = Refusal(status: .noContent, sentence: "")
    static let notServing = Refusal(status: .serviceUnavailable, sentence: "This worker takes no devices.")
    static let notGET = Refusal(
        status: .methodNotAllowed, sentence: "Open the WebSocket with GET.", headers: ["Allow": "GET"])
    static let notWebSocket = Refusal(
        status: .upgradeRequired, sentence: "This is a WebSocket endpoint: connect with a WebSocket client.",
        headers: ["Upgrade": "websocket", "Connection": "Upgrade, close", "Sec-WebSocket-Version": "13"])
    static let wrongVersion = Refusal(
        status: .badRequest, sentence: "The header Sec-WebSocket-Version must be 13.",
        headers: ["Sec-WebSocket-Version": "13"])
    static let foreignOrigin = Refusal(
        status: .forbidden, sentence: "This origin may not connect. The worker's edge.origins lists those that may.",
        limit: .origins)
    static let notThisMachine = Refusal(
        status: .forbidden,
        sentence: "While auth.mode is insecure, only programs and pages of this machine may connect, to localhost or a "
            + "loopback address. The worker's edge.origins can allow others.",
        limit: .origins)
    static let tooLong = Refusal(
        status: .requestHeaderFieldsTooLarge, sentence: "The request's headers are too long.",
        limit: .headerBytes)
    static let body = Refusal.bad("A WebSocket handshake must not have a body.")
    static let full = Refusal(
        status: .serviceUnavailable, sentence: "This worker has reached its limit of sessions.",
        headers: ["Retry-After": "5"], limit: .sessions)

    static let crowdedAddress = Refusal(
        status: .tooManyRequests, sentence: "Your address has reached the limit of connections to this worker.",
        headers: ["Retry-After": "5"], limit: .connectionsPerAddress)

    static func bad(_ sentence: String) -> Refusal {
        Refusal(status: .badRequest, sentence: sentence)
    }

    /// The header by which clients tell an answer of a worker from that of a proxy, a login page or a balancer.
    private static let mark = ["Rollcall": "1"]

    /// The complete response. The connection ends after it.
    func response(to method: HTTPMethod) -> ByteBuffer {
        // A page may read why: browsers tell it nothing of a WebSocket that was refused.
        let readable = [
            "Connection": "close", "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "Retry-After, Rollcall",
        ]
        let fields = readable.merging(Self.mark) { $1 }.merging(headers) { $1 }.sorted { $0.key < $1.key }
        let body = status == .noContent ? "" : sentence + "\n"
        var text = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        if !body.isEmpty {
            text += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        text += fields.map { "\($0.key): \($0.value)\r\n" }.joined() + "\r\n"
        return ByteBuffer(string: method == .HEAD ? text : text + body)
    }
}
