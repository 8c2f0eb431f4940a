// Validates WebSocket handshakes (RFC 6455, section 4.2), and explains to developers why one is refused.

import Crypto
import NIOCore
import NIOHTTP1
import RollcallProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Validates WebSocket handshake requests.
struct Handshake: Sendable {
    static let path: ByteString = "/v1/connect"

    let origins: OriginPolicy

    /// The headers that a worker reads. Others may have any bytes.
    private static let read = [
        "upgrade", "connection", "content-length", "sec-websocket-version", "host", "sec-websocket-key", "origin",
        "x-forwarded-for",
    ]

    /// Whether a load balancer asks for the worker's health: by default many ask for this path, at the port of their traffic.
    static func isHealthCheck(_ request: HTTPRequestHead) -> Bool {
        [.GET, .HEAD, .OPTIONS].contains(request.method) && path(of: request) == "/"
    }

    /// The path without the query, also of a request that names the server before it (RFC 9112 §3.2.2).
    private static func path(of request: HTTPRequestHead) -> ByteString {
        let target = ByteString(request.uri)
        let path = target.cut(at: "?")?.before ?? target
        guard path.begins(with: "http://") || path.begins(with: "https://") else { return path }
        return ByteString("/" + path.parts(at: "/").dropFirst(3).map(\.string).joined(separator: "/"))
    }

    /// - Returns: The value of `Sec-WebSocket-Accept` for a valid request.
    func accept(_ request: HTTPRequestHead) throws(Refusal) -> String {
        let headers = request.headers
        for name in Self.read where !headers[name].allSatisfy({ ByteString($0).isASCII }) {
            throw .bad("The header \(name) must be ASCII.")
        }
        guard Self.path(of: request) == Self.path else { throw .notHere }
        guard request.method == .GET else { throw .notGET }
        // Before what only a WebSocket has: a plain request tells a page whether its origin may connect.
        guard headers["origin"].count <= 1,
            origins.allows(headers.first(name: "origin"), host: headers.first(name: "host"))
        else { throw origins.isForThisMachine ? .notThisMachine : .foreignOrigin }
        guard headers.lists("websocket", in: "upgrade") else {
            throw headers.lists("application/rollcall", in: "accept") ? .probe : .notWebSocket
        }
        guard request.version == .http1_1 else { throw .bad("A WebSocket handshake must be an HTTP/1.1 request.") }
        guard headers.lists("upgrade", in: "connection") else {
            throw .bad("The header Connection does not name Upgrade. A proxy may have removed it.")
        }
        guard headers["content-length"].allSatisfy({ ByteString($0) == "0" }),
            !headers.contains(name: "transfer-encoding")
        else { throw .body }
        guard headers.only("sec-websocket-version") == "13" else { throw .wrongVersion }
        guard headers.only("host") != nil else { throw .bad("The header Host must occur exactly once.") }
        guard let key = headers.only("sec-websocket-key"), Data(base64Encoded: key.string)?.count == 16 else {
            throw .bad("The header Sec-WebSocket-Key must occur once, with 16 bytes in Base64.")
        }
        return Self.answer(to: key.string)
    }

    /// The response that opens the WebSocket.
    static func response(_ accept: String) -> ByteBuffer {
        ByteBuffer(
            string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
    }

    private static func answer(to key: String) -> String {
        let digest = Insecure.SHA1.hash(data: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Data(digest).base64EncodedString()
    }
}

extension HTTPHeaders {
    /// Whether a list-valued header has this item.
    fileprivate func lists(_ item: StaticString, in name: String) -> Bool {
        self[canonicalForm: name].contains { ByteString(String($0)).isWord(item) }
    }

    /// The value of a header that occurs exactly once.
    fileprivate func only(_ name: String) -> ByteString? {
        let values = self[name]
        return values.count == 1 ? ByteString(values[0]) : nil
    }
}
