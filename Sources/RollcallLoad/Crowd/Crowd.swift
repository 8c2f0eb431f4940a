// Very many devices on one thread: plain sockets, one wait for all of them, one buffer, and no object per device. The
// crowd must cost less than the worker that it measures, so it reads no more of a message than its driver needs.

internal import CPoller

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Simulated devices of one thread.
package struct Crowd: ~Copyable {
    /// An event of a device.
    package enum Event {
        /// The WebSocket is open.
        case opened
        /// A complete message arrived. Its bytes are valid until the handler returns.
        case text(UnsafeRawBufferPointer)
        case closed(Ending)
    }

    /// How a connection ended, or why it could not be opened.
    package enum Ending: Hashable, Sendable {
        /// The worker sent a close frame with this code.
        case code(UInt16)
        /// The connection ended without a close frame. The value is the `errno`, or 0 for an orderly end of the stream.
        case lost(Int32)
        /// No WebSocket was opened, because of this `errno`; 0 if the server closed the connection.
        case unreachable(Int32)
        /// No WebSocket was opened: the server answered with this HTTP status, or 0 if it did not answer with HTTP.
        case refused(Int)
    }

    struct Device {
        enum Stage: UInt8 {
            case connecting, upgrading, open, closed
        }

        var socket: Int32
        var address: Address
        var stage = Stage.connecting
        /// The beginning of a frame that is not complete yet.
        var partial: [UInt8] = []
        /// Bytes that the kernel has not accepted yet.
        var unsent: [UInt8] = []
        /// What to send once the WebSocket is open. If it were sent earlier, a stalled worker would read it long after
        /// the device gave up and connected elsewhere, and would treat that connection as the newer one.
        var later: [UInt8] = []
    }

    private let poller: Int32
    var devices: [Device] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
    private var ready = [poller_event](repeating: poller_event(), count: 1_024)

    package init() throws(LoadError) {
        poller = poller_make()
        guard poller >= 0 else { throw .system("wait for sockets") }
    }

    deinit {
        for device in devices where device.stage != .closed { close(device.socket) }
        buffer.deallocate()
        close(poller)
    }

    /// The number of devices that were ever connected. They are numbered from 0.
    package var count: Int { devices.count }

    package func isOpen(_ number: Int) -> Bool { devices[number].stage == .open }

    /// Starts a device's first connection.
    ///
    /// - Parameter source: the loopback address of this machine to connect from; 0 means 127.0.0.1. Each has its own
    ///   ports, so one process is not limited to the ports of one address.
    /// - Returns: the device's number.
    package mutating func connect(to address: Address, source: UInt8 = 0) throws(LoadError) -> Int {
        let number = devices.count
        devices.append(Device(socket: try Self.socket(to: address, source: source), address: address))
        poller_watch(poller, devices[number].socket, Int32(number), false, true)
        return number
    }

    /// Connects a device again whose connection has ended. Must not be called by the handler of ``turn(for:_:)``,
    /// because remaining events of the old connection would count for the new one.
    package mutating func reconnect(_ number: Int, to address: Address, source: UInt8 = 0) throws(LoadError) {
        precondition(devices[number].stage == .closed, "a device has one connection")
        devices[number] = Device(socket: try Self.socket(to: address, source: source), address: address)
        poller_watch(poller, devices[number].socket, Int32(number), false, true)
    }

    /// Sends bytes. What the kernel does not accept at once is sent later, in order.
    package mutating func send(_ bytes: [UInt8], from number: Int) {
        switch devices[number].stage {
        case .connecting, .upgrading: return devices[number].later += bytes
        case .open: break
        case .closed: return
        }
        guard devices[number].unsent.isEmpty else { return devices[number].unsent += bytes }
        let sent = max(0, Self.send(bytes, to: devices[number].socket))
        guard sent < bytes.count else { return }
        devices[number].unsent = Array(bytes[sent...])
        poller_watch(poller, devices[number].socket, Int32(number), true, true)
    }

    /// Ends a device's connection without a close frame, as a crash does.
    package mutating func drop(_ number: Int) {
        guard devices[number].stage != .closed else { return }
        devices[number].stage = .closed
        close(devices[number].socket)
        (devices[number].partial, devices[number].unsent, devices[number].later) = ([], [], [])
    }

    /// Waits until something happens, at most for `patience`, and calls the handler for each event.
    ///
    /// The handler may send.
    package mutating func turn(for patience: Duration, _ tell: (inout Crowd, Int, Event) -> Void) {
        let microseconds = max(0, Int64(patience / .microseconds(1)))
        let count = poller_wait(poller, &ready, Int32(ready.count), microseconds)
        for index in 0..<Int(count) {
            let (event, number) = (ready[index], Int(ready[index].number))
            guard devices[number].stage != .closed else { continue }
            if event.writable { proceed(number, tell) }
            if event.readable, devices[number].stage != .closed { receive(number, tell) }
        }
    }

    /// Handles that the kernel accepts more bytes, or that the connection is established.
    private mutating func proceed(_ number: Int, _ tell: (inout Crowd, Int, Event) -> Void) {
        if devices[number].stage == .connecting {
            let error = Self.error(of: devices[number].socket, to: devices[number].address)
            guard error == 0 else { return end(number, .unreachable(error), tell) }
            devices[number].stage = .upgrading
            devices[number].unsent = Handshake.request(to: devices[number].address)
        }
        let sent = max(0, Self.send(devices[number].unsent, to: devices[number].socket))
        devices[number].unsent.removeFirst(sent)
        if devices[number].unsent.isEmpty {
            poller_watch(poller, devices[number].socket, Int32(number), true, false)
        }
    }
}

// Sockets.
extension Crowd {
    private static func socket(to address: Address, source: UInt8) throws(LoadError) -> Int32 {
        #if canImport(Darwin)
            let made = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #else
            let made = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard made >= 0 else { throw .system("open a socket") }
        _ = fcntl(made, F_SETFL, fcntl(made, F_GETFL) | O_NONBLOCK)
        var one: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        if source > 0 { try bind(made, to: source) }
        let result = with(address.number, address.port.bigEndian) { connectSocket(made, $0, $1) }
        guard result == 0 || errno == EINPROGRESS else {
            close(made)
            throw .system("connect")
        }
        return made
    }

    private static func bind(_ socket: Int32, to source: UInt8) throws(LoadError) {
        #if os(Linux)
            // The port is chosen when the destination is known (IP_BIND_ADDRESS_NO_PORT). Otherwise all sources would
            // share one set of ports.
            var one: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_IP), 24, &one, 4)
        #endif
        let own = (UInt32(0x7F00_0001) + UInt32(source)).bigEndian
        guard with(own, 0, { bindSocket(socket, $0, $1) }) == 0 else { throw .system("use a loopback address") }
    }

    private static func with(
        _ host: UInt32, _ port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host
        address.sin_port = port
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Returns why a connection was not established, or 0. If nothing listens on a port from the range of ephemeral
    /// ports, one of many sockets may connect to itself; that counts as refused.
    private static func error(of socket: Int32, to address: Address) -> Int32 {
        var (error, size) = (Int32(0), socklen_t(4))
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size)
        guard error == 0, address.isLoopback else { return error }
        var own = sockaddr_in()
        size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        let isItself = own.sin_port == address.port.bigEndian && own.sin_addr.s_addr == address.number
        return isItself ? ECONNREFUSED : 0
    }

    /// - Returns: the number of bytes that the kernel accepted; negative if it accepted none, for now or because of an
    ///   error.
    private static func send(_ bytes: [UInt8], to socket: Int32) -> Int {
        #if canImport(Darwin)
            Darwin.send(socket, bytes, bytes.count, 0)
        #else
            Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }
}

private func connectSocket(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    connect(socket, address, size)
}

private func bindSocket(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    bind(socket, address, size)
}
