// The kind of Redis deployment and the worker's credentials, from `redis.url` in the configuration.

/// A Redis deployment: a single server, a primary with sentinels, or a cluster.
public struct RedisDeployment: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// One server.
        case server(RedisLocation.Address)
        /// A primary and its replicas, monitored by these sentinels under a name.
        case sentinel([RedisLocation.Address], name: String)
        /// Several primaries, each with a part of the keys. Lists some of the nodes.
        case cluster([RedisLocation.Address])
    }

    public var kind: Kind
    /// The ACL user; `nil` for Redis's default user.
    public var username: String?
    public var password: String?
    public var database: Int
    /// Whether to use TLS.
    public var isEncrypted: Bool

    public init(
        _ kind: Kind, username: String? = nil, password: String? = nil, database: Int = 0,
        isEncrypted: Bool = false
    ) {
        self.kind = kind
        self.username = username
        self.password = password
        self.database = database
        self.isEncrypted = isEncrypted
    }

    package var isCluster: Bool {
        if case .cluster = kind { true } else { false }
    }

    /// What to do about one node of a cluster.
    package static let clusterAdvice = "set redis.url to redis+cluster://HOST:PORT, which finds the others"

    /// The file that contains a user with exactly the rights that a worker needs.
    package static func rightsFile(ofCluster isCluster: Bool) -> String {
        isCluster ? "Config/redis-cluster.acl" : "Config/redis.acl"
    }

    /// Returns a server of this deployment.
    public func location(at address: RedisLocation.Address) -> RedisLocation {
        RedisLocation(
            address, username: username, password: password, database: database, isEncrypted: isEncrypted)
    }
}

/// For people and logs: contains no password.
extension RedisDeployment: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        switch kind {
        case .server(let address): return "\(location(at: address))"
        case .sentinel(let sentinels, let name): return shown("sentinel", sentinels) + "/\(name)/\(database)"
        case .cluster(let nodes): return shown("cluster", nodes)
        }
    }

    private func shown(_ kind: String, _ addresses: [RedisLocation.Address]) -> String {
        let (scheme, user) = (isEncrypted ? "rediss" : "redis", username.map { "\($0)@" } ?? "")
        return "\(scheme)+\(kind)://\(user)" + addresses.map { "\($0)" }.joined(separator: ",")
    }

    public var debugDescription: String { description }
}

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
