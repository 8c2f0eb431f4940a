// Where a Redis is and who we are to it, as the configuration's `redis.url` says it.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One Redis server: its address, credentials and database.
public struct RedisLocation: Hashable, Sendable {
    public enum Address: Hashable, Sendable {
        case host(String, port: Int)
        case unix(path: String)
    }

    public var address: Address
    /// The ACL user; Redis's default user if absent.
    public var username: String?
    public var password: String?
    public var database: Int

    public init(_ address: Address, username: String? = nil, password: String? = nil, database: Int = 0) {
        self.address = address
        self.username = username
        self.password = password
        self.database = database
    }

    /// Reads `redis://[user[:password]@]host[:port][/database]` or `redis+unix:///path[?db=database]`.
    ///
    /// User and password are percent-decoded. `redis://:secret@host` is a password without a user.
    ///
    /// - Throws: ``InvalidRedisURL``, with a sentence that never shows the password; also for `rediss`,
    ///   `redis+sentinel` and `redis+cluster`, which are known but not supported yet.
    public init(url: String) throws(InvalidRedisURL) {
        guard let parts = URLComponents(string: url, encodingInvalidCharacters: false),
            let scheme = parts.scheme?.lowercased()
        else {
            throw InvalidRedisURL(
                "this is not a URL (in a user or password, percent-encode what is not a letter or digit)")
        }
        switch scheme {
        case "redis": try self.init(tcp: parts)
        case "redis+unix": try self.init(unix: parts)
        case "rediss": throw InvalidRedisURL("TLS to Redis (rediss://) is not supported yet")
        case "redis+sentinel": throw InvalidRedisURL("Redis Sentinel (redis+sentinel://) is not supported yet")
        case "redis+cluster": throw InvalidRedisURL("Redis Cluster (redis+cluster://) is not supported yet")
        default: throw InvalidRedisURL("the scheme \(scheme):// is not one of redis:// and redis+unix://")
        }
    }

    private init(tcp parts: URLComponents) throws(InvalidRedisURL) {
        guard var host = parts.host, !host.isEmpty else { throw InvalidRedisURL("the host is missing") }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let port = parts.port ?? 6379
        guard (1...65535).contains(port) else { throw InvalidRedisURL("the port \(port) is not one of 1–65535") }
        guard parts.query == nil else { throw InvalidRedisURL("redis:// takes no query; the database is the path") }
        try self.init(.host(host, port: port), parts, database: String(parts.path.drop { $0 == "/" }))
    }

    private init(unix parts: URLComponents) throws(InvalidRedisURL) {
        guard parts.host ?? "" == "" else {
            throw InvalidRedisURL("redis+unix:// takes three slashes before the path: redis+unix:///run/redis.sock")
        }
        guard parts.path.count > 1 else { throw InvalidRedisURL("the path of the socket is missing") }
        let items = parts.queryItems ?? []
        if let unknown = items.first(where: { $0.name != "db" }) {
            throw InvalidRedisURL("redis+unix:// knows the query ?db= only, not \(unknown.name)")
        }
        try self.init(.unix(path: parts.path), parts, database: items.first?.value ?? "")
    }

    private init(_ address: Address, _ parts: URLComponents, database text: String) throws(InvalidRedisURL) {
        guard let database = text.isEmpty ? 0 : Int(text), database >= 0 else {
            // What stands there may be the rest of a password with a slash in it: it is not repeated.
            throw InvalidRedisURL("what follows the host is not the number of a database (a / in a password is %2F)")
        }
        let username = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        self.init(address, username: username, password: parts.password, database: database)
    }
}

/// For people and logs: without the password.
extension RedisLocation: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        let user = username.map { "\($0)@" } ?? ""
        return switch address {
        case .host(let host, let port):
            "redis://\(user)\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
        case .unix(let path): "redis+unix://\(user)\(path)?db=\(database)"
        }
    }

    public var debugDescription: String { description }
}

/// Why a text does not name a Redis that we can use.
public struct InvalidRedisURL: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
