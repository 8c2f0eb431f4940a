// What a worker tells the service that started it. systemd (Type=notify) wants to hear when a worker is ready and when it
// stops: one datagram each, to the socket that it names in the environment. Elsewhere nobody is told.

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// News for the service that started this process, as `sd_notify(3)` describes them.
enum ServiceNotice {
    /// Devices can connect; `status` is shown by `systemctl status`.
    case ready(status: String)
    /// No more devices are accepted, and the process will end by itself.
    case stopping

    var text: String {
        switch self {
        case .ready(let status): "READY=1\nSTATUS=\(status)"
        case .stopping: "STOPPING=1\nSTATUS=draining"
        }
    }

    /// Tells it, if there is somebody to tell. That nobody listens is no reason to serve no devices.
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

    /// The socket's address: a path, or, with an `@` before it, a name in Linux's abstract namespace.
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

    /// An abstract name has no end but its length.
    private static func length(_ path: String) -> socklen_t {
        let before = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return socklen_t(before + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
    }
}
