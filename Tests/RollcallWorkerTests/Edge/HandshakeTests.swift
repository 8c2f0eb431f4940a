// Which requests open a WebSocket, and the responses to others.

import NIOCore
import NIOHTTP1
import Testing

@testable import RollcallServer

@Suite("The handshake")
struct HandshakeTests {
    private let handshake = Handshake(origins: OriginPolicy(origins: ["https://chat.example.com"], listeningOn: "::"))

    private func request(_ change: (inout HTTPRequestHead) -> Void = { _ in }) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/v1/connect")
        head.headers = [
            "Host": "rt.example.com", "Upgrade": "websocket", "Connection": "keep-alive, Upgrade",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        change(&head)
        return head
    }

    private func refusal(_ change: (inout HTTPRequestHead) -> Void) -> Refusal? {
        do throws(Refusal) {
            _ = try handshake.accept(request(change))
            return nil
        } catch {
            return error
        }
    }

    @Test("answers the example of RFC 6455 as specified")
    func accepts() throws {
        #expect(try handshake.accept(request()) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(refusal { $0.uri = "/v1/connect?from=page" } == nil)
        #expect(refusal { $0.headers.replaceOrAdd(name: "upgrade", value: "WebSocket") } == nil)
        #expect(refusal { $0.headers.add(name: "Origin", value: "https://chat.example.com") } == nil)
    }

    @Test("says what is wrong")
    func refuses() {
        #expect(refusal { $0.uri = "/" } == .notHere)
        #expect(refusal { $0.uri = "/v1/connect/" } == .notHere)
        #expect(refusal { $0.method = .POST } == .notGET)
        #expect(refusal { $0.headers.remove(name: "upgrade") } == .notWebSocket)
        #expect(refusal { $0.version = .http1_0 }?.status == .badRequest)
        #expect(refusal { $0.headers.replaceOrAdd(name: "connection", value: "keep-alive") }?.status == .badRequest)
        #expect(refusal { $0.headers.replaceOrAdd(name: "sec-websocket-version", value: "8") } == .wrongVersion)
        #expect(refusal { $0.headers.remove(name: "host") }?.status == .badRequest)
        #expect(refusal { $0.headers.add(name: "Origin", value: "https://evil.example") } == .foreignOrigin)
        #expect(
            refusal {
                $0.headers.add(name: "Origin", value: "https://chat.example.com")
                $0.headers.add(name: "Origin", value: "https://evil.example")
            } == .foreignOrigin)
        for key in ["", "short", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZXg=", "!GhlIHNhbXBsZSBub25jZQ=="] {
            #expect(refusal { $0.headers.replaceOrAdd(name: "sec-websocket-key", value: key) }?.status == .badRequest)
        }
        #expect(
            refusal { $0.headers.add(name: "Sec-WebSocket-Key", value: "dGhlIHNhbXBsZSBub25jZQ==") }?.status
                == .badRequest)
    }

    @Test("writes refusals as HTTP")
    func responses() {
        let text = String(buffer: Refusal.full.response(to: .GET))
        #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(text.contains("\r\nRetry-After: 5\r\n") && text.contains("\r\nConnection: close\r\n"))
        // Pages of any origin may read that it is a worker's, and when to come back.
        #expect(text.contains("\r\nRollcall: 1\r\n"))
        #expect(text.contains("\r\nAccess-Control-Expose-Headers: Retry-After, Rollcall\r\n"))
        #expect(text.hasSuffix("\r\n\r\n\(Refusal.full.sentence)\n"))
        #expect(String(buffer: Refusal.notHere.response(to: .HEAD)).hasSuffix("\r\n\r\n"))
        #expect(String(buffer: Refusal.notWebSocket.response(to: .GET)).contains("\r\nConnection: Upgrade, close\r\n"))
    }
}
