// What arrives for a device: the answer to its handshake, then frames, complete or in pieces.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Crowd {
    mutating func receive(_ number: Int, _ tell: (inout Crowd, Int, Event) -> Void) {
        let count = recv(devices[number].socket, buffer.baseAddress, buffer.count, 0)
        guard count > 0 else {
            let reason = count == 0 ? 0 : errno
            guard reason != EAGAIN else { return }
            let stood = devices[number].stage == .open
            return end(number, stood ? .lost(reason) : .unreachable(reason), tell)
        }
        guard devices[number].partial.isEmpty else {
            devices[number].partial += UnsafeRawBufferPointer(rebasing: buffer[..<count])
            let bytes = devices[number].partial
            let taken = bytes.withUnsafeBytes { take($0, for: number, tell) }
            devices[number].partial = Array(bytes[taken...])
            return
        }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let taken = take(bytes, for: number, tell)
        if taken < count { devices[number].partial = Array(bytes[taken...]) }
    }

    /// Handles complete frames.
    ///
    /// - Returns: the number of bytes handled.
    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, for number: Int, _ tell: (inout Crowd, Int, Event) -> Void
    ) -> Int {
        var start = 0
        if devices[number].stage == .upgrading {
            guard let end = Handshake.end(of: bytes) else { return 0 }
            guard Handshake.opens(bytes) else {
                self.end(number, .refused(Handshake.status(of: bytes)), tell)
                return bytes.count
            }
            start = end
            devices[number].stage = .open
            let later = devices[number].later
            devices[number].later = []
            if !later.isEmpty { send(later, from: number) }
            tell(&self, number, .opened)
        }
        while devices[number].stage == .open, let frame = ServerFrameHead(bytes, at: start) {
            handle(frame.opcode, UnsafeRawBufferPointer(rebasing: bytes[frame.payload]), for: number, tell)
            start = frame.payload.upperBound
        }
        return devices[number].stage == .open ? start : bytes.count
    }

    private mutating func handle(
        _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, for number: Int,
        _ tell: (inout Crowd, Int, Event) -> Void
    ) {
        switch opcode {
        case 1: tell(&self, number, .text(payload))
        case 8:
            // RFC 6455 defines 1005 for a close frame without a code.
            let code = payload.count < 2 ? 1005 : UInt16(payload[0]) << 8 | UInt16(payload[1])
            end(number, .code(code), tell)
        case 9: send(DeviceFrame.pong(payload), from: number)
        default: break
        }
    }

    mutating func end(_ number: Int, _ ending: Ending, _ tell: (inout Crowd, Int, Event) -> Void) {
        drop(number)
        tell(&self, number, .closed(ending))
    }
}

/// The position of a worker's frame. Workers do not mask frames, and send each message in one frame.
private struct ServerFrameHead {
    let opcode: UInt8
    let payload: Range<Int>

    /// - Returns: `nil` while the frame is incomplete.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        guard bytes.count >= start + 2 else { return nil }
        opcode = bytes[start] & 0x0F
        var (length, head) = (Int(bytes[start + 1] & 0x7F), start + 2)
        if length >= 126 {
            let size = length == 126 ? 2 : 8
            guard bytes.count >= head + size else { return nil }
            length = bytes[head..<head + size].reduce(0) { $0 << 8 | Int($1) }
            head += size
        }
        guard bytes.count >= head + length else { return nil }
        payload = head..<head + length
    }
}

/// A minimal WebSocket handshake: the key is constant, and the answer's key is not checked.
enum Handshake {
    static func request(to address: Crowd.Address) -> [UInt8] {
        Array(
            """
            GET \(address.path) HTTP/1.1\r
            Host: \(address.host):\(address.port)\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
            \r

            """.utf8)
    }

    static func opens(_ answer: UnsafeRawBufferPointer) -> Bool { answer.starts(with: "HTTP/1.1 101 ".utf8) }

    /// Returns the HTTP status of a refusal; 0 if the answer is not HTTP.
    static func status(of answer: UnsafeRawBufferPointer) -> Int {
        guard answer.starts(with: "HTTP/1.".utf8), answer.count >= 12 else { return 0 }
        return Int(String(decoding: answer[9..<12], as: UTF8.self)) ?? 0
    }

    /// Returns the index after the headers.
    static func end(of answer: UnsafeRawBufferPointer) -> Int? {
        guard answer.count >= 4 else { return nil }
        for start in 0...answer.count - 4 where answer[start..<start + 4].elementsEqual("\r\n\r\n".utf8) {
            return start + 4
        }
        return nil
    }
}
