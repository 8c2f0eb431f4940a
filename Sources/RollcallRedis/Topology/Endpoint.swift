// One server of a deployment, as a connection needs it. Passwords and certificates change while workers run, so those
// in files are read again for each connection.

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
}

/// For logs: contains no secrets.
extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "credentials" + (tls == nil ? "" : ", with TLS") }
    public var debugDescription: String { description }
}

/// A server to connect to, and how connections authenticate there.
package struct Endpoint: Sendable {
    package enum Kind: Sendable {
        /// Any server, also a replica.
        case server
        /// A server that must not be a replica: the one that sentinels name, or that `redis.url` names.
        case primary(isNamedBySentinels: Bool)
        case sentinel
    }

    package var location: RedisLocation
    package var kind = Kind.server
    /// `nil` if the location has all credentials.
    package var credentials: Credentials.Source?
    /// How long the look-up of the host's name may take.
    package var lookUpTime: Duration

    package init(
        _ location: RedisLocation, kind: Kind = .server, credentials: Credentials.Source? = nil,
        lookUpTime: Duration = .seconds(10)
    ) {
        (self.location, self.kind, self.credentials) = (location, kind, credentials)
        self.lookUpTime = lookUpTime
    }

    /// The step of a handshake that asks for the server's role.
    func role(at location: RedisLocation) -> [HandshakeStep] {
        guard case .primary(let isNamedBySentinels) = kind else { return [] }
        return [.role(at: location.address, isNamedBySentinels: isNamedBySentinels)]
    }

    /// Returns the location with the current credentials.
    func resolved(on eventLoop: any EventLoop) -> EventLoopFuture<(RedisLocation, TLSClient?)> {
        guard let credentials else { return eventLoop.makeSucceededFuture((location, nil)) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [location, kind] in
            let current = credentials()
            var location = location
            if case .sentinel = kind {
                (location.username, location.password) = (current.sentinelUsername, current.sentinelPassword)
            } else if let password = current.password {
                location.password = password
            }
            return (location, location.isEncrypted ? current.tls : nil)
        }
    }

    /// The host's name; `nil` if it is an address or a path.
    var name: String? {
        guard case .host(let host, _) = location.address else { return nil }
        return (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    /// Looks up the addresses of the host; none for a Unix socket.
    func addresses(on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        guard case .host(let host, let port) = location.address else { return eventLoop.makeSucceededFuture([]) }
        return NameLookups.addresses(of: host, port: port, within: lookUpTime, on: eventLoop)
    }
}
