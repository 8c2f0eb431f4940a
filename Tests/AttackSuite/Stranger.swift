// A plain socket for attacks: it sends any bytes, and describes in a word what came back. It blocks, and needs its own
// thread.

internal import Foundation
internal import NIOCore

/// A TCP connection to a worker's edge.
final class Stranger {
    struct Unreachable: Error {}

    private let descriptor: Int32
    private var unread: [UInt8] = []
    private var hasEnded = false
    /// The number of bytes read.
    private(set) var received = 0
    private let opened = ContinuousClock.now

    init(port: Int, patience: Duration = .seconds(10)) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        guard address.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else {
            close(descriptor)
            throw Unreachable()
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends as much as the worker accepts.
    ///
    /// - Returns: whether it accepted everything.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func say(_ text: String) { send(ClientFrame.text(text).bytes) }

    /// Ends the sending direction of the stream, and continues to receive.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Upgrades to a WebSocket.
    func upgrade() throws {
        send(Array(Self.request().utf8))
        guard httpStatus() == 101 else { throw Unreachable() }
    }

    /// Asks for a WebSocket as a proxy does for a client of this address, and returns the status code of the response.
    func statusBehindProxy(of address: String) -> String {
        send(Array((Self.request().dropLast() + "X-Forwarded-For: \(address)\r\n\r\n").utf8))
        return httpStatus().map { "\($0)" } ?? "end"
    }

    /// Starts a session of this device.
    func enter(token: String, device: String) throws {
        try upgrade()
        say(#"{"type":"hello","token":"\#(token)","device":"\#(device)"}"#)
        guard text(within: .seconds(10), where: { $0.contains(#""type":"welcome""#) }) != nil else {
            throw Unreachable()
        }
    }

    static func request(_ line: String = "GET /v1/connect HTTP/1.1", _ extra: String...) -> String {
        let headers = [
            "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        return ([line] + headers + extra).joined(separator: "\r\n") + "\r\n\r\n"
    }
}

// What the worker sends.
extension Stranger {
    /// Returns the status code of the handshake response; `nil` if the stream ends first.
    func httpStatus() -> Int? {
        let end: [UInt8] = [13, 10, 13, 10]
        while true {
            if let head = unread.firstRange(of: end) {
                let words = String(decoding: unread[..<head.lowerBound], as: UTF8.self).split(separator: " ")
                unread.removeFirst(head.upperBound)
                return words.count > 1 ? Int(words[1]) : nil
            }
            guard receive() else { return nil }
        }
    }

    /// Returns how the worker reacted, in words: the first decisive event.
    func outcome() -> String {
        while true {
            while let (opcode, payload) = frame() {
                if opcode == 8 {
                    return payload.count < 2 ? "close" : "close \(Int(payload[0]) << 8 | Int(payload[1]))"
                }
                guard opcode == 1 else { continue }
                let text = String(decoding: payload, as: UTF8.self)
                if text.contains(#""type":"ack""#) { return "ack" }
                if text.contains(#""type":"error""#), let code = text.firstMatch(of: #/"code":"(\w+)"/#) {
                    return "error \(code.1)"
                }
            }
            guard receive() else { return hasEnded ? "end" : "silence" }
        }
    }

    /// Waits for a text message.
    func text(within limit: Duration, where fits: (String) -> Bool) -> String? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            while let (opcode, payload) = frame() {
                let text = String(decoding: payload, as: UTF8.self)
                if opcode == 9 { send(ClientFrame(opcode: 10, payload: payload).bytes) }
                if opcode == 1, fits(text) { return text }
            }
            guard receive() else { return nil }
        }
        return nil
    }

    /// Returns whether the worker ends the stream within the time limit, whatever it sends before.
    func isEnded() -> Bool {
        unread = []
        while receive() { unread = [] }
        return hasEnded
    }

    /// Returns the number of pongs before the first acknowledgement; `nil` if there is none.
    func pongsBeforeAck() -> Int? {
        var pongs = 0
        while true {
            while let (opcode, payload) = frame() {
                if opcode == 10 { pongs += 1 }
                if opcode == 1, String(decoding: payload, as: UTF8.self).contains(#""type":"ack""#) { return pongs }
            }
            guard receive() else { return nil }
        }
    }

    /// Whether less time has passed than a worker allows for the handshake.
    var isPatient: Bool { ContinuousClock.now < opened + .seconds(15) }

    /// The number of bytes that have arrived but were not read.
    var waiting: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Reads everything that has arrived.
    func catchUp() {
        while waiting > 0, receive() {}
        while frame() != nil {}
    }

    private func receive() -> Bool {
        guard !hasEnded else { return false }
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { unread += buffer[..<count] }
        received += max(0, count)
        hasEnded = count == 0 || count < 0 && errno != EAGAIN && errno != EWOULDBLOCK
        return count > 0
    }

    private func frame() -> (opcode: UInt8, payload: [UInt8])? {
        guard unread.count >= 2 else { return nil }
        let size = unread[1] == 127 ? 8 : unread[1] == 126 ? 2 : 0
        guard unread.count >= 2 + size else { return nil }
        let length = size == 0 ? Int(unread[1]) : unread[2..<2 + size].reduce(0) { $0 << 8 | Int($1) }
        guard unread.count >= 2 + size + length else { return nil }
        defer { unread.removeFirst(2 + size + length) }
        return (unread[0] & 0x0F, Array(unread[2 + size..<2 + size + length]))
    }
}
