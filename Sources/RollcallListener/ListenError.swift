// Why a worker cannot listen on a port.

import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The edge or the admin port cannot listen on the configured address.
struct ListenError: Error, CustomStringConvertible {
    enum Listener: String, Hashable {
        case edge
        case admin = "admin port"
    }

    enum Code: Hashable {
        /// Another program listens there.
        case portTaken
        /// Ports below 1024 need a privilege.
        case notPermitted
        /// The host has no such address.
        case noSuchAddress
        case cannotListen
    }

    let listener: Listener
    let code: Code
    let host: String
    let port: Int
    let underlying: any Error

    init(_ listener: Listener, host: String, port: Int, cause: any Error) {
        self.listener = listener
        self.host = host
        self.port = port
        underlying = cause
        code =
            switch (cause as? IOError)?.errnoCode {
            case EADDRINUSE: .portTaken
            case EACCES, EPERM: .notPermitted
            case EADDRNOTAVAIL: .noSuchAddress
            default: cause is SocketAddressError ? .noSuchAddress : .cannotListen
            }
    }

    /// Whether retrying without a change may help.
    var retry: Bool { code == .portTaken }

    var description: String {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        switch code {
        case .portTaken: return "The \(listener.rawValue) cannot listen on \(place): another program does."
        case .notPermitted:
            return "The \(listener.rawValue) may not listen on \(place): ports below 1024 need a privilege."
        case .noSuchAddress:
            return "The \(listener.rawValue) cannot listen on \(place): this machine has no such address."
        case .cannotListen: return "The \(listener.rawValue) cannot listen on \(place): \(underlying)"
        }
    }
}
