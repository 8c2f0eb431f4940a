// What is shown to a Redis and asked of it. Passwords and certificates are changed while workers run, so whoever has them
// in files reads them again for each connection.

import NIOCore
import NIOPosix

/// Passwords, and what TLS is spoken with.
public struct Credentials: Sendable {
    /// Instead of the password that the URL has.
    public var password: String?
    public var tls: TLSClient?
    /// Who we are to sentinels, which have users of their own.
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

    /// Gives the present credentials; may read files, and is never called on an event loop.
    public typealias Source = @Sendable () -> Credentials

    /// Asks the source, where that holds nobody up.
    static func read(_ source: @escaping Source, on eventLoop: any EventLoop) -> EventLoopFuture<Credentials> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { source() }
    }
}

/// For logs: without what is secret.
extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "credentials" + (tls == nil ? "" : ", with TLS") }
    public var debugDescription: String { description }
}
