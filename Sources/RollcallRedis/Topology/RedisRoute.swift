// A route says where a connection goes, separately from how the connection works. It is asked again for each attempt.
// When the primary changes, connections follow without knowing the kind of deployment.

public import NIOCore

/// Provides the destinations of connections. One route serves all connections of a process to the same Redis, on any
/// event loop, so that they move together.
public protocol RedisRoute: Sendable {
    /// Returns the current destination; fails with a ``RedisError`` if it cannot be determined.
    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination>
    /// Whether a connection to this destination should stay.
    func leads(to destination: Destination) -> Bool
    /// Calls `moved` whenever the destination changes, on any thread, until ``unwatch(_:)``.
    func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void)
    func unwatch(_ watcher: ObjectIdentifier)
    /// Ends the route's own connections. The route cannot be used afterwards.
    func close() async
    /// On a cluster, the route that knows which primary has which slots.
    var cluster: ClusterRoute? { get }
}

/// Default implementations, for a route that never changes.
extension RedisRoute {
    public var cluster: ClusterRoute? { nil }
    public func leads(to destination: Destination) -> Bool { true }
    public func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void) {}
    public func unwatch(_ watcher: ObjectIdentifier) {}
    public func close() async {}
}

/// The server that a connection goes to, and how the connection authenticates.
public struct Destination: Sendable {
    public var location: RedisLocation
    /// The TLS configuration; `nil` without TLS.
    public var tls: TLSClient?

    public init(_ location: RedisLocation, tls: TLSClient? = nil) {
        self.location = location
        self.tls = tls
    }
}
