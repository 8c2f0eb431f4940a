// Something in front of a server, with its own port, such as a proxy.

/// Something that connections to a server pass through.
public protocol Gate: Sendable {
    /// The port that others connect to.
    var port: Int { get }
    /// Forwards connections to the port where the server listens.
    func aim(at port: Int?) async throws
}

/// What a gate stands in front of.
public enum GatePlace: Hashable, Sendable {
    /// The command port of a server.
    case server(Int)
    /// The cluster bus port of a node.
    case bus(Int)
    case sentinel(Int)
}

/// Creates a gate for a place.
public typealias GateMaker = @Sendable (GatePlace) async throws -> any Gate
