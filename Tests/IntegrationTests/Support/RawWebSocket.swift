// WebSocket by hand over a bare socket: a test sends exactly the frames it means to, drops the connection when it
// means to, and judges a worker by nothing that the project itself wrote.

import Foundation
import TestSupport

/// A connection to a worker's edge.
final class RawWebSocket {
    enum Event: Hashable {
        case text(String)
        case closed(code: Int?)
    }

    private let descriptor: Int32
    private var isOpen = true
    private var unread: [UInt8] = []
    private var hasEnded = false

    /// Connects and upgrades.
    init(port: Int) async throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw Self.error() }
        try await upgrade()
    }

    deinit { drop() }

    /// Closes without a word, as a network that goes away.
    func drop() {
        if isOpen { close(descriptor) }
        isOpen = false
    }

    func send(_ text: String) async throws {
        try await send(opcode: 1, Array(text.utf8))
    }

    /// Sends one whole frame; its mask is of zeros, which RFC 6455 allows.
    func send(opcode: UInt8, _ payload: [UInt8]) async throws {
        let length: [UInt8] =
            switch payload.count {
            case ..<126: [0x80 | UInt8(payload.count)]
            case ..<65_536: [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
            }
        try await write([0x80 | opcode] + length + [0, 0, 0, 0] + payload)
    }

    /// What has come since the last call: pings are answered, and of the frames only these are told.
    func events() async throws -> [Event] {
        read()
        var events: [Event] = []
        while let (opcode, payload) = nextFrame() {
            switch opcode {
            case 1: events.append(.text(String(decoding: payload, as: UTF8.self)))
            case 8: events.append(.closed(code: payload.count < 2 ? nil : Int(payload[0]) << 8 | Int(payload[1])))
            case 9: try? await send(opcode: 10, payload)
            default: break
            }
        }
        if hasEnded, isOpen {
            drop()
            events.append(.closed(code: nil))
        }
        return events
    }

    private func upgrade() async throws {
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        let request =
            "GET /v1/connect HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\r\n"
        try await write(Array(request.utf8))
        let end = Array("\r\n\r\n".utf8)
        try await eventually("the connection is upgraded") {
            read()
            guard let start = unread.indices.first(where: { unread[$0...].starts(with: end) }) else { return false }
            let head = String(decoding: unread[..<start], as: UTF8.self)
            guard head.hasPrefix("HTTP/1.1 101 "), head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") else {
                throw Timeout(description: "no upgrade: \(head)")
            }
            unread.removeFirst(start + end.count)
            return true
        }
    }

    private func write(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        try await eventually("\(bytes.count) bytes are sent") {
            guard isOpen else { throw POSIXError(.ENOTCONN) }
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent >= 0 || errno == EAGAIN else { throw Self.error() }
            rest = rest.dropFirst(max(0, sent))
            return rest.isEmpty
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while isOpen, !hasEnded {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                unread += buffer[..<count]
            } else if count < 0 && errno == EAGAIN {
                return
            } else {
                hasEnded = true
            }
        }
    }

    private func nextFrame() -> (opcode: UInt8, payload: [UInt8])? {
        guard unread.count >= 2 else { return nil }
        let size = unread[1] == 127 ? 8 : unread[1] == 126 ? 2 : 0
        guard unread.count >= 2 + size else { return nil }
        let length = size == 0 ? Int(unread[1]) : unread[2..<2 + size].reduce(0) { $0 << 8 | Int($1) }
        guard unread.count >= 2 + size + length else { return nil }
        defer { unread.removeFirst(2 + size + length) }
        return (unread[0] & 0x0F, Array(unread[(2 + size)..<(2 + size + length)]))
    }

    private static func error() -> any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
