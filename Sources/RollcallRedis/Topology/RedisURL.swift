// Parses `redis.url`. Each error says what a valid URL looks like, and never repeats text that may be a password.

import RollcallProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RedisDeployment {
    /// The valid forms of the URL.
    public static let forms =
        "redis://[user[:password]@]host[:port][/db], redis+unix:///path, "
        + "redis+sentinel://[user[:password]@]host[:port],host[:port]…/name[/db], or "
        + "redis+cluster://[user[:password]@]host[:port],host[:port]…; with TLS, rediss://, rediss+sentinel:// and "
        + "rediss+cluster://"

    /// Parses `redis://[user[:password]@]host[:port][/database]`, `redis+unix:///path[?db=database]`,
    /// `redis+sentinel://[user[:password]@]host[:port],host[:port]…/name[/database]`, or
    /// `redis+cluster://[user[:password]@]host[:port],host[:port]…`. With TLS, all but the second begin with `rediss`.
    ///
    /// User and password are percent-decoded. `redis://:secret@host` is a password without a user.
    ///
    /// - Throws: ``InvalidRedisURL``, with a sentence that never contains the password.
    public init(url: String) throws(InvalidRedisURL) {
        let list = HostList(of: url)
        guard let parts = URLComponents(string: list.url, encodingInvalidCharacters: false),
            let scheme = parts.scheme?.lowercased()
        else {
            throw InvalidRedisURL(
                "this is not a URL (in a user or password, percent-encode what is not a letter or digit)")
        }
        switch scheme {
        case "redis", "rediss": try self.init(server: parts, of: list, scheme: scheme)
        case "redis+unix": try self.init(unix: parts)
        case "redis+sentinel", "rediss+sentinel": try self.init(sentinel: parts, of: list, scheme: scheme)
        case "redis+cluster", "rediss+cluster": try self.init(cluster: parts, of: list, scheme: scheme)
        default:
            throw InvalidRedisURL(
                "the scheme \(scheme):// is not one of redis://, rediss://, redis+unix://, redis+sentinel://, "
                    + "rediss+sentinel://, redis+cluster:// and rediss+cluster://")
        }
    }

    private init(server parts: URLComponents, of list: HostList, scheme: String) throws(InvalidRedisURL) {
        guard list.others.isEmpty else {
            throw InvalidRedisURL(
                "\(scheme):// takes one host; for several, take \(scheme)+sentinel:// or \(scheme)+cluster://")
        }
        guard parts.query == nil else {
            throw InvalidRedisURL("\(scheme):// takes no query; the database is the path")
        }
        let address = try RedisLocation.Address(of: parts, port: 6379)
        try self.init(.server(address), parts, database: String(parts.path.drop { $0 == "/" }))
        isEncrypted = scheme == "rediss"
    }

    private init(sentinel parts: URLComponents, of list: HostList, scheme: String) throws(InvalidRedisURL) {
        guard parts.query == nil else { throw InvalidRedisURL("\(scheme):// takes no query") }
        let path = ByteString(parts.path).parts(at: "/").dropFirst()
        guard let name = path.first, !name.isEmpty, path.count <= 2,
            !name.string.unicodeScalars.contains(where: \.properties.isWhitespace)
        else {
            throw InvalidRedisURL("the name of the primary follows the sentinels: \(scheme)://h1,h2,h3/mymaster")
        }
        let sentinels = try list.addresses(first: parts, port: 26_379)
        try self.init(.sentinel(sentinels, name: name.string), parts, database: path.count == 2 ? path[2].string : "")
        isEncrypted = ByteString(scheme).begins(with: "rediss")
    }

    private init(cluster parts: URLComponents, of list: HostList, scheme: String) throws(InvalidRedisURL) {
        guard parts.query == nil else { throw InvalidRedisURL("\(scheme):// takes no query") }
        let nodes = try list.addresses(first: parts, port: 6379)
        try self.init(.cluster(nodes), parts, database: String(parts.path.drop { $0 == "/" }))
        guard database == 0 else { throw InvalidRedisURL("a cluster has no database but 0: leave the path out") }
        isEncrypted = ByteString(scheme).begins(with: "rediss")
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
        try self.init(.server(.unix(path: parts.path)), parts, database: items.first?.value ?? "")
    }

    private init(_ kind: Kind, _ parts: URLComponents, database text: String) throws(InvalidRedisURL) {
        guard let database = text.isEmpty ? 0 : Int(text), database >= 0 else {
            // This may be the rest of a password that contains a slash, so it is not repeated.
            throw InvalidRedisURL("what follows the host is not the number of a database (a / in a password is %2F)")
        }
        let username = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        self.init(kind, username: username, password: parts.password, database: database)
    }
}

extension RedisLocation.Address {
    /// The host and port of a URL.
    ///
    /// - Parameter port: the default port.
    init(of parts: URLComponents, port usual: Int) throws(InvalidRedisURL) {
        guard var host = parts.host, !host.isEmpty else { throw InvalidRedisURL("the host is missing") }
        if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
            host = String(host.dropFirst().dropLast())
        }
        let port = parts.port ?? usual
        guard (1...65535).contains(port) else { throw InvalidRedisURL("the port \(port) is not one of 1–65535") }
        self = .host(host, port: port)
    }
}

/// Why a text is not a valid URL of a Redis.
public struct InvalidRedisURL: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A URL with one host, and the other hosts it contained, separated by commas. URL parsers do not support these, so they
/// are removed and parsed as separate URLs, by the same rules.
private struct HostList {
    let url: String
    let others: [String]

    init(of url: String) {
        let start = url.utf8.firstRange(of: "://".utf8)?.upperBound ?? url.endIndex
        let end = url.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex
        let first = url.utf8[start..<end].lastIndex(of: UInt8(ascii: "@")).map { url.utf8.index(after: $0) } ?? start
        let hosts = ByteString(String(url[first..<end])).parts(at: ",").map(\.string)
        self.url = String(url[..<first]) + (hosts.first ?? "") + url[end...]
        others = Array(hosts.dropFirst())
    }

    /// Returns all hosts.
    ///
    /// - Parameters:
    ///   - first: the parsed URL with the first host.
    ///   - port: the default port.
    func addresses(first: URLComponents, port: Int) throws(InvalidRedisURL) -> [RedisLocation.Address] {
        var addresses = [try RedisLocation.Address(of: first, port: port)]
        for other in others {
            guard let parts = URLComponents(string: "redis://\(other)", encodingInvalidCharacters: false),
                parts.user == nil, parts.path.isEmpty, parts.query == nil
            else {
                // This may be the rest of a password that contains a comma.
                throw InvalidRedisURL("between the commas stands what is no host[:port] (a , in a password is %2C)")
            }
            let address = try RedisLocation.Address(of: parts, port: port)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
