// Devices on plain sockets, connected to a socket that simulates a worker.

import Foundation
import RollcallLoad
import Testing

@Suite struct CrowdTests {
    /// Regression: `rollcall load` reported that other devices used its names. A suspended worker processed a hello
    /// after the device had given up and connected to another one.
    @Test("a device sends nothing before its WebSocket is open", .timeLimit(.minutes(1)))
    func order() throws {
        let worker = try Listener()
        defer { worker.close() }
        var crowd = try Crowd()
        let device = try crowd.connect(to: try Crowd.Address(port: worker.port))
        crowd.send(Array("hello, ".utf8), from: device)
        let connection = worker.accept()
        defer { close(connection) }
        var heard = ""
        while !heard.contains("\r\n\r\n") {
            crowd.turn(for: .milliseconds(10)) { _, _, _ in }
            heard += worker.hear(connection)
        }
        crowd.send(Array("and join".utf8), from: device)
        for _ in 0..<5 { crowd.turn(for: .milliseconds(10)) { _, _, _ in } }
        heard += worker.hear(connection)
        #expect(heard.hasSuffix("\r\n\r\n"))

        let answer = Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8)
        #expect(send(connection, answer, answer.count, 0) == answer.count)
        heard = ""
        var isOpen = false
        while heard.utf8.count < 15 {
            crowd.turn(for: .milliseconds(10)) { _, _, event in if case .opened = event { isOpen = true } }
            heard += worker.hear(connection)
        }
        #expect(isOpen && heard == "hello, and join")
    }
}

/// A listening socket on loopback.
private struct Listener {
    private let descriptor: Int32
    let port: Int

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound)
        (self.descriptor, port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    func accept() -> Int32 { Foundation.accept(descriptor, nil, nil) }

    /// Returns what has arrived so far.
    func hear(_ connection: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func close() { Foundation.close(descriptor) }
}
