// A hand-written WebSocket client on a bare socket. Tests decide which frames it sends and when it drops the
// connection, and do not depend on the code under test.

internal import Foundation
internal import TestSupport

/// A connection to a worker's edge.
final class RawWebSocket {
    enum Event: Hashable {
        case text(String)
        case closed(code: Int?)
    }

    private let descriptor: Int32
    private var isOpen = true
    private var reader = FrameReader()
    private var hasEnded = false

    /// Connects and upgrades.
    ///
    /// - Parameter receiveBuffer: the size of the kernel's receive buffer. With a small one, a worker soon notices that
    ///   a client does not read.
    init(port: Int, receiveBuffer: Int32? = nil) async throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
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

    /// Closes the socket without a close frame, as when the network fails.
    func drop() {
        if isOpen { close(descriptor) }
        isOpen = false
    }

    func send(_ text: String) async throws {
        try await send(opcode: ClientFrames.Opcode.text, Array(text.utf8))
    }

    func send(opcode: UInt8, _ payload: [UInt8]) async throws {
        try await write(ClientFrames.frame(opcode, payload))
    }

    /// Returns the text and close frames received since the last call. Answers pings.
    func events() async throws -> [Event] {
        read()
        var events: [Event] = []
        while let (opcode, payload) = reader.next() {
            switch opcode {
            case ClientFrames.Opcode.text: events.append(.text(String(decoding: payload, as: UTF8.self)))
            case ClientFrames.Opcode.close: events.append(.closed(code: ClientFrames.closeCode(of: payload)))
            case ClientFrames.Opcode.ping: try? await send(opcode: ClientFrames.Opcode.pong, payload)
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
        try await write(ClientFrames.upgradeRequest)
        try await eventually("the connection is upgraded") {
            read()
            return try reader.tookUpgrade()
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
                reader.append(buffer[..<count])
            } else if count < 0 && errno == EAGAIN {
                return
            } else {
                hasEnded = true
            }
        }
    }

    private static func error() -> any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
