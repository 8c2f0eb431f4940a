// What kind of Redis a worker has, and who the worker is to it: what the configuration's `redis.url` says.

public import Logging
public import NIOCore

/// A Redis as one deploys it: a server that stands alone, one that others may take the place of, or several.
public struct RedisDeployment: Hashable, Sendable {
    public enum Topology: Hashable, Sendable {
        /// One server.
        case server(RedisLocation.Address)
        /// A primary and its replicas, watched by sentinels, which know it by a name.
        case sentinel([RedisLocation.Address], name: String)
        /// Several primaries, each with a part of the keys; some of them are named.
        case cluster([RedisLocation.Address])
    }

    public var topology: Topology
    /// The ACL user; Redis's default user if absent.
    public var username: String?
    public var password: String?
    public var database: Int
    /// Whether TLS is spoken.
    public var isEncrypted: Bool

    public init(
        _ topology: Topology, username: String? = nil, password: String? = nil, database: Int = 0,
        isEncrypted: Bool = false
    ) {
        self.topology = topology
        self.username = username
        self.password = password
        self.database = database
        self.isEncrypted = isEncrypted
    }

    package var isCluster: Bool {
        if case .cluster = topology { true } else { false }
    }

    /// A server of this deployment.
    public func location(at address: RedisLocation.Address) -> RedisLocation {
        RedisLocation(
            address, username: username, password: password, database: database, isEncrypted: isEncrypted)
    }

    /// The way to where commands are sent.
    ///
    /// - Parameters:
    ///   - credentials: asked for each connection; without, the URL has all that there is. TLS cannot do without.
    ///   - client: whose it is, for the names of the connections that the route has for itself.
    ///   - eventLoop: where the route does what it does for itself.
    public func route(
        credentials: Credentials.Source? = nil, for client: String = "rollcall", on eventLoop: any EventLoop,
        logger: Logger
    ) -> any RedisRoute {
        switch topology {
        case .server(let address):
            guard let credentials else { return location(at: address) }
            return ServerRoute(location: location(at: address), credentials: credentials)
        case .sentinel:
            return SentinelRoute(
                to: self, credentials: credentials ?? { Credentials() }, for: client, on: eventLoop, logger: logger)
        case .cluster:
            return ClusterRoute(
                to: self, credentials: credentials ?? { Credentials() }, for: client, on: eventLoop, logger: logger)
        }
    }
}

/// For people and logs: without the password.
extension RedisDeployment: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        switch topology {
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
