// A client with a bare socket: it sends exactly the bytes of the test, ends its stream when and how the test says, and
// reads only on request.

import Foundation
import NIOCore
import TestSupport

@testable import RollcallServer

/// A TCP connection to an edge, without a WebSocket library.
final class RawClient: @unchecked Sendable {
    private let descriptor: Int32
    private var isClosed = false
    /// What has arrived but was not consumed.
    private var unread: [UInt8] = []
    /// Whether the server has ended its side of the stream, or reset it.
    private(set) var hasEnded = false

    /// - Parameter receiveBuffer: the size of the kernel's receive buffer. With a small one, a server soon notices that
    ///   the client does not read.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        guard result == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        close()
    }

    func close() {
        if !isClosed { Foundation.close(descriptor) }
        isClosed = true
    }

    /// Closes with a reset instead of an end.
    func reset() {
        let atOnce: [Int32] = [1, 0]
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, atOnce, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Ends the sending direction, and continues to read.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        try await eventually("\(bytes.count) bytes are sent") {
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent >= 0 || errno == EAGAIN else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            rest = rest.dropFirst(max(0, sent))
            return rest.isEmpty
        }
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }
    func send(_ frames: ClientFrame...) async throws { try await send(frames.flatMap(\.bytes)) }

    /// Reads everything that the kernel has buffered.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !hasEnded {
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

    /// Reads at most so many bytes, and drops them.
    ///
    /// - Returns: how many there were.
    func readPiece(of most: Int) -> Int {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = recv(descriptor, &buffer, most, 0)
        if count == 0 || count < 0 && errno != EAGAIN { hasEnded = true }
        return max(0, count)
    }

    /// Waits for the server to end the stream.
    ///
    /// - Returns: everything that arrived before, except pings at the start.
    func readToEnd(within limit: Duration = .seconds(30)) async throws -> [UInt8] {
        try await eventually("the stream ends", within: limit) {
            read()
            return hasEnded
        }
        while unread.starts(with: ServerFrame.ping.bytes.readableBytesView) { _ = take(ServerFrame.ping.count) }
        return take(unread.count)
    }

    /// Waits for the head of an HTTP response and consumes it.
    func readHead() async throws -> String {
        let end = Array("\r\n\r\n".utf8)
        var length = 0
        try await eventually("a response arrives") {
            read()
            let starts = unread.indices.dropLast(3)
            length = starts.first { Array(unread[$0..<$0 + 4]) == end }.map { $0 + 4 } ?? 0
            return length > 0
        }
        return String(decoding: take(length), as: UTF8.self)
    }

    /// Waits for the head of an HTTP response, consumes it and returns its status.
    func readStatus() async throws -> Int? {
        try await readHead().split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    /// Waits for a server's frame and consumes it. Skips pings, which may arrive at any time.
    func readFrame(within limit: Duration = .seconds(30)) async throws -> ReceivedFrame {
        var frame: ReceivedFrame?
        try await eventually("a frame arrives", within: limit) {
            read()
            repeat { frame = nextFrame() } while frame == .ping
            if frame == nil && hasEnded { throw Ended() }
            return frame != nil
        }
        return frame!
    }

    /// Consumes the frames that have arrived, without waiting for more.
    func frames() -> [ReceivedFrame] {
        read()
        var frames: [ReceivedFrame] = []
        while let frame = nextFrame() { frames.append(frame) }
        return frames.filter { $0 != .ping }
    }

    /// The stream ended before the expected data arrived.
    struct Ended: Error {}

    private func nextFrame() -> ReceivedFrame? {
        guard unread.count >= 2 else { return nil }
        let size = unread[1] == 127 ? 8 : unread[1] == 126 ? 2 : 0
        guard unread.count >= 2 + size else { return nil }
        let length = size == 0 ? Int(unread[1]) : unread[2..<2 + size].reduce(0) { $0 << 8 | Int($1) }
        guard unread.count >= 2 + size + length else { return nil }
        let bytes = take(2 + size + length)
        return ReceivedFrame(first: bytes[0], payload: Array(bytes.dropFirst(2 + size)))
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }
}

/// A frame from the server, which must be complete and unmasked.
struct ReceivedFrame: Hashable, CustomStringConvertible {
    let first: UInt8
    let payload: [UInt8]

    static func text(_ text: String) -> ReceivedFrame { ReceivedFrame(first: 0x81, payload: Array(text.utf8)) }
    static func pong(_ text: String) -> ReceivedFrame { ReceivedFrame(first: 0x8A, payload: Array(text.utf8)) }
    static let ping = ReceivedFrame(first: 0x89, payload: [])

    /// The code of a close frame.
    var closeCode: Int? {
        first == 0x88 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
    }

    var description: String { "\(String(first, radix: 16)):\(String(decoding: payload, as: UTF8.self))" }
}
