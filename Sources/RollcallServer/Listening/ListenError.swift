// Why a worker cannot listen on a port.

import NIOCore
import RollcallRedis

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The edge or the admin port cannot listen on the configured address.
package struct ListenError: Error, CustomStringConvertible {
    package enum Listener: String, Hashable, Sendable {
        case edge
        case admin = "admin port"
    }

    package enum Code: Hashable, Sendable {
        /// Another program listens there.
        case portTaken
        /// Ports below 1024 need a privilege.
        case notPermitted
        /// The host has no such address.
        case noSuchAddress
        case cannotListen
    }

    package let listener: Listener
    package let code: Code
    package let host: String
    package let port: Int
    package let underlying: any Error

    package init(_ listener: Listener, host: String, port: Int, cause: any Error) {
        self.listener = listener
        self.host = host
        self.port = port
        underlying = cause
        code =
            switch (cause as? IOError)?.errnoCode {
            case EADDRINUSE: .portTaken
            case EACCES, EPERM: .notPermitted
            case EADDRNOTAVAIL: .noSuchAddress
            default: cause is SocketAddressError || cause is NameLookupFailure ? .noSuchAddress : .cannotListen
            }
    }

    /// Whether retrying without a change may help.
    package var retry: Bool { code == .portTaken }

    package var description: String {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        switch code {
        case .portTaken: return "The \(listener.rawValue) cannot listen on \(place): another program does."
        case .notPermitted:
            return "The \(listener.rawValue) may not listen on \(place): ports below 1024 need a privilege."
        case .noSuchAddress where underlying is NameLookupFailure:
            return "The \(listener.rawValue) cannot listen on \(place): \(underlying)."
        case .noSuchAddress:
            return "The \(listener.rawValue) cannot listen on \(place): this machine has no such address."
        case .cannotListen: return "The \(listener.rawValue) cannot listen on \(place): \(underlying)"
        }
    }
}
