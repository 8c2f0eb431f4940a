// One server of a deployment, as a single connection needs it.

public import NIOCore

/// One Redis server: its address and the user's credentials.
public struct RedisLocation: Hashable, Sendable {
    public enum Address: Hashable, Sendable {
        case host(String, port: Int)
        case unix(path: String)
    }

    public var address: Address
    /// The ACL user; `nil` for Redis's default user.
    public var username: String?
    public var password: String?
    public var database: Int
    /// Whether to use TLS.
    public var isEncrypted: Bool

    public init(
        _ address: Address, username: String? = nil, password: String? = nil, database: Int = 0,
        isEncrypted: Bool = false
    ) {
        self.address = address
        self.username = username
        self.password = password
        self.database = database
        self.isEncrypted = isEncrypted
    }
}

/// The simplest route: a fixed server, without TLS, with the password given here.
extension RedisLocation: RedisRoute {
    public func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        eventLoop.makeSucceededFuture(Destination(self))
    }
}

/// For people and logs: contains no password.
extension RedisLocation: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        let (scheme, user) = (isEncrypted ? "rediss" : "redis", username.map { "\($0)@" } ?? "")
        return switch address {
        case .host: "\(scheme)://\(user)\(address)/\(database)"
        case .unix: "redis+unix://\(user)\(address)?db=\(database)"
        }
    }

    public var debugDescription: String { description }
}

extension RedisLocation.Address: CustomStringConvertible {
    /// `host:port`, or the path of a socket.
    public var description: String {
        switch self {
        case .host(let host, let port): "\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
        case .unix(let path): path
        }
    }
}
