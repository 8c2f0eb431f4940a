// A plain TCP connection for `rollcall bench`. Any layer in between would be measured too.

import Foundation

/// A blocking connection to a port of this machine. It is closed when it is released.
final class BlockingSocket {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    init(port: Int) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw Self.failure("open a socket") }
        // The bench fails if an operation takes longer than five seconds. A `timeval` consists of two words.
        try set(SOL_SOCKET, SO_RCVTIMEO, SIMD2(5, 0))
        try set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Self.failure("connect to port \(port)") }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        guard send(descriptor, bytes, bytes.count, 0) == bytes.count else { throw Self.failure("write") }
    }

    /// Returns this many bytes, and waits until they have arrived.
    func read(_ count: Int) throws -> [UInt8] {
        while received.count < count { try fill() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Returns everything up to and including `end`.
    func read(through end: String) throws -> String {
        var line: [UInt8] = []
        while !line.suffix(end.utf8.count).elementsEqual(end.utf8) { line += try read(1) }
        return String(decoding: line, as: UTF8.self)
    }

    private func fill() throws {
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else {
            throw count == 0 ? BenchFailure("a connection was closed") : Self.failure("read an answer")
        }
        received += chunk[..<count]
    }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) throws {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0 else {
            throw Self.failure("set up a socket")
        }
    }

    private static func failure(_ what: String) -> BenchFailure {
        BenchFailure("could not \(what): \(String(cString: strerror(errno)))")
    }
}
