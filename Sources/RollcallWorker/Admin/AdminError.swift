// Why the admin port cannot be opened.

import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The admin port could not be opened where the configuration says.
struct AdminError: Error, CustomStringConvertible {
    enum Code: Hashable {
        /// Another program listens there.
        case portTaken
        case cannotListen
    }

    let code: Code
    let host: String
    let port: Int
    let underlying: any Error

    init(host: String, port: Int, cause: any Error) {
        self.host = host
        self.port = port
        underlying = cause
        code = (cause as? IOError)?.errnoCode == EADDRINUSE ? .portTaken : .cannotListen
    }

    /// Whether trying again, with nothing changed, can help.
    var retry: Bool { code == .portTaken }

    var description: String {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return switch code {
        case .portTaken: "The admin port cannot listen on \(place): another program does."
        case .cannotListen: "The admin port cannot listen on \(place): \(underlying)"
        }
    }
}
