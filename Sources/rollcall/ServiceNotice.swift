// Notifies systemd (`Type=notify`) when a worker is ready and when it stops: one datagram each, to the socket that is
// named in the environment. Without that variable nothing is sent.

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A notification for the service manager, as described in `sd_notify(3)`.
enum ServiceNotice {
    /// Devices can connect. `systemctl status` shows `status`.
    case ready(status: String)
    /// No more devices are accepted, and the process will end.
    case stopping

    var text: String {
        switch self {
        case .ready(let status): "READY=1\nSTATUS=\(status)"
        case .stopping: "STOPPING=1\nSTATUS=draining"
        }
    }

    /// Sends the notification if there is a socket. Errors are ignored: they are no reason not to serve devices.
    func send() {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], let address = Self.address(path) else {
            return
        }
        #if os(Linux)
            let kind = Int32(SOCK_DGRAM.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, 0, $0, Self.length(path))
            }
        }
    }

    /// Returns the socket's address: a path or, after `@`, a name in Linux's abstract namespace.
    private static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard let first = name.first, name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        switch first {
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): break
        default: return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        return address
    }

    /// Returns the length of the address. An abstract name has no terminating zero.
    private static func length(_ path: String) -> socklen_t {
        let before = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return socklen_t(before + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
    }
}
