// Who to connect to is one question, how a connection lives another. A route answers the first, anew for each attempt; so
// a deployment that moves takes its connections along, and they need not know what it is made of.

public import NIOCore

/// Tells connections where to go. One route serves all connections of a process to the same Redis, on whatever event loop,
/// so that they move together.
public protocol RedisRoute: Sendable {
    /// Where to go now; fails with a ``RedisError`` where nobody knows.
    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination>
    /// Whether a connection that went there should stay.
    func leads(to destination: Destination) -> Bool
    /// From now on calls `moved` whenever the route leads elsewhere, on any thread, until ``unwatch(_:)``.
    func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void)
    func unwatch(_ watcher: ObjectIdentifier)
    /// Ends what the route keeps going for itself. It is of no use from then on.
    func close() async
    /// Where there are several primaries, what says which of them has what.
    var cluster: ClusterRoute? { get }
}

/// A route that never moves.
extension RedisRoute {
    public var cluster: ClusterRoute? { nil }
    public func leads(to destination: Destination) -> Bool { true }
    public func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void) {}
    public func unwatch(_ watcher: ObjectIdentifier) {}
    public func close() async {}
}

/// Where a connection goes, and by what the two sides know each other.
public struct Destination: Sendable {
    public var location: RedisLocation
    /// With what TLS is spoken; `nil` for a connection in the clear.
    public var tls: TLSClient?

    public init(_ location: RedisLocation, tls: TLSClient? = nil) {
        self.location = location
        self.tls = tls
    }
}
