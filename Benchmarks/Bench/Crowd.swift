// Very many devices on one thread: plain sockets, one wait for all of them, one buffer, and no object per device. They
// must cost less than the worker that they measure, so no more of a message is read than a workload needs.

import CEpoll
import Foundation
import RollcallClient
import RollcallProtocol

/// Simulated devices of one thread, numbered from 0.
final class Crowd {
    private struct Device {
        let socket: Int32
        var isOpen = false
        /// What arrived of a frame that is not complete yet.
        var partial: [UInt8] = []
        /// What to send once the WebSocket is open.
        var later: [UInt8] = []
    }

    private let poller = epoll_create1(0)
    private var devices: [Device] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
    private var ready = [epoll_event](repeating: epoll_event(), count: 1_024)
    private(set) var acknowledgements = 0
    /// Called at each acknowledgement, with the number of the device.
    var onAcknowledgement: ((Int) throws -> Void)?

    deinit {
        for device in devices { close(device.socket) }
        buffer.deallocate()
        close(poller)
    }

    var count: Int { devices.count }

    /// Connects a device to a port of this machine.
    func connect(to port: Int) throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard made >= 0 else { throw BenchFailure("no socket: \(String(cString: strerror(errno)))") }
        var one: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw BenchFailure("no connection: \(String(cString: strerror(errno)))") }
        _ = fcntl(made, F_SETFL, O_NONBLOCK)
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u32 = UInt32(devices.count)
        epoll_ctl(poller, EPOLL_CTL_ADD, made, &event)
        devices.append(Device(socket: made))
        try write(
            """
            GET /v1/connect HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
            \r

            """.utf8.map(\.self), to: devices.count - 1)
    }

    /// Returns a message as a frame. Its mask is all zeros: RFC 6455 requires a mask, but workers do not check its value.
    static func frame(_ message: ClientMessage, id: MessageID? = nil) -> [UInt8] {
        frame(0x81, MessageCodec().json(of: ClientRequest(message, id: id)))
    }

    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let length = count < 126 ? [0x80 | UInt8(count)] : [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [first] + length + [0, 0, 0, 0] + payload
    }

    func send(_ bytes: [UInt8], from number: Int) throws {
        if devices[number].isOpen { try write(bytes, to: number) } else { devices[number].later += bytes }
    }

    private func write(_ bytes: [UInt8], to number: Int) throws {
        guard Glibc.send(devices[number].socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw BenchFailure("a server does not read")
        }
    }

    /// Waits until something happens, at most for this time.
    ///
    /// - Parameter tell: takes the number of a device, and a message to it that is no acknowledgement; the bytes are
    ///   valid until it returns.
    func turn(milliseconds: Int, _ tell: (Int, UnsafeRawBufferPointer) throws -> Void = { _, _ in }) throws {
        let count = epoll_wait(poller, &ready, Int32(ready.count), Int32(milliseconds))
        for index in 0..<max(0, Int(count)) {
            let number = Int(ready[index].data.u32)
            let received = recv(devices[number].socket, buffer.baseAddress, buffer.count, 0)
            guard received > 0 else {
                if received < 0, errno == EAGAIN { continue }
                throw BenchFailure("a server closed a connection")
            }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<received])
            if devices[number].partial.isEmpty {
                let taken = try take(bytes, number, tell)
                if taken < received { devices[number].partial = Array(bytes[taken...]) }
            } else {
                let all = devices[number].partial + bytes
                let taken = try all.withUnsafeBytes { try take($0, number, tell) }
                devices[number].partial = Array(all[taken...])
            }
        }
    }

    /// Waits for something, and fails when nothing arrives for ten seconds.
    func wait(until isOver: () -> Bool, _ tell: (Int, UnsafeRawBufferPointer) throws -> Void = { _, _ in }) throws {
        var (heard, deadline) = (acknowledgements, now() + 10)
        while !isOver() {
            try turn(milliseconds: 100, tell)
            if acknowledgements > heard { (heard, deadline) = (acknowledgements, now() + 10) }
            guard now() < deadline else { throw BenchFailure("no answer in 10 s") }
        }
    }

    /// Sends a message that is acknowledged, and waits for that.
    func ask(_ message: ClientMessage, from number: Int) throws {
        let before = acknowledgements
        try send(Self.frame(message, id: .integer(1)), from: number)
        try wait(until: { acknowledgements > before })
    }

    /// Only answers pings for this time.
    func rest(seconds: Double) throws {
        let end = now() + seconds
        while now() < end { try turn(milliseconds: 100) }
    }

    /// Connects further devices to these ports in turn, each of a user of its own, as many at a time as a server accepts
    /// without overflowing a queue, and waits for their acknowledgements.
    ///
    /// - Parameter saying: returns what a device sends after its hello, by its number; its joins want acknowledgements.
    func gather(
        _ more: Int, at ports: [Int], name: String = "user", acknowledgements each: Int,
        saying: (Int) -> [UInt8] = { _ in [] }
    ) throws {
        let (first, settled) = (count, acknowledgements)
        while count < first + more || acknowledgements < settled + more * each {
            while count < first + more, count - first < (acknowledgements - settled) / each + 200 {
                let number = count
                try connect(to: ports[number % ports.count])
                let hello = ClientMessage.hello(.init(token: ByteString("\(name)\(number)"), device: "phone"))
                // Without anything else to acknowledge, the hello is: once its presence is written.
                let rest = saying(number)
                try send(Self.frame(hello, id: rest.isEmpty ? .integer(1) : nil) + rest, from: number)
            }
            let before = acknowledgements
            try wait(until: { acknowledgements > before })
        }
    }

    // MARK: What arrives

    /// Handles what is complete.
    ///
    /// - Returns: the number of bytes handled.
    private func take(
        _ bytes: UnsafeRawBufferPointer, _ number: Int, _ tell: (Int, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        var start = 0
        if !devices[number].isOpen {
            guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8))?.upperBound else { return 0 }
            guard bytes.starts(with: "HTTP/1.1 101 ".utf8) else {
                throw BenchFailure("no WebSocket: \(String(decoding: bytes.prefix(40), as: UTF8.self))")
            }
            start = end
            devices[number].isOpen = true
            let later = devices[number].later
            devices[number].later = []
            if !later.isEmpty { try write(later, to: number) }
        }
        // Servers do not mask frames, and send each message in one.
        while bytes.count >= start + 2 {
            var (length, head) = (Int(bytes[start + 1] & 0x7F), start + 2)
            if length >= 126 {
                let size = length == 126 ? 2 : 8
                guard bytes.count >= head + size else { break }
                length = bytes[head..<head + size].reduce(0) { $0 << 8 | Int($1) }
                head += size
            }
            guard bytes.count >= head + length else { break }
            let payload = UnsafeRawBufferPointer(rebasing: bytes[head..<head + length])
            switch bytes[start] & 0x0F {
            case 1:
                if length < 40, payload.starts(with: #"{"id":"#.utf8) {
                    acknowledgements += 1
                    try onAcknowledgement?(number)
                } else {
                    try tell(number, payload)
                }
            case 9: try write(Self.frame(0x8A, Array(payload)), to: number)
            default: throw BenchFailure("a server ended a connection: \(Array(payload.prefix(40)))")
            }
            start = head + length
        }
        return start
    }
}

/// The time on a monotonic clock, in seconds.
func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
