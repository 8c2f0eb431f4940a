// Credentials for Redis. Passwords and certificates change while workers run, so those in files are read again for each
// connection.

import NIOCore
import NIOPosix

/// Passwords and the TLS configuration.
public struct Credentials: Sendable {
    /// Overrides the password in the URL.
    public var password: String?
    public var tls: TLSClient?
    /// The user for sentinels, which have their own users.
    public var sentinelUsername: String?
    public var sentinelPassword: String?

    public init(
        password: String? = nil, tls: TLSClient? = nil, sentinelUsername: String? = nil,
        sentinelPassword: String? = nil
    ) {
        self.password = password
        self.tls = tls
        self.sentinelUsername = sentinelUsername
        self.sentinelPassword = sentinelPassword
    }

    /// Returns the current credentials. May read files, and is never called on an event loop.
    public typealias Source = @Sendable () -> Credentials

    /// Calls the source on a thread that may block.
    static func read(_ source: @escaping Source, on eventLoop: any EventLoop) -> EventLoopFuture<Credentials> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { source() }
    }
}

/// For logs: contains no secrets.
extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "credentials" + (tls == nil ? "" : ", with TLS") }
    public var debugDescription: String { description }
}
