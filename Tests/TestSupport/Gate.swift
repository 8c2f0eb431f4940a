// What may stand before a server: a door of its own, by which everybody else finds it.

/// Something that connections to a server go through.
public protocol Gate: Sendable {
    /// Where others find the server.
    var port: Int { get }
    /// Leads to where it listens.
    func aim(at port: Int?) async throws
}

/// What a gate stands before.
public enum GatePlace: Hashable, Sendable {
    /// Where a server takes commands.
    case server(Int)
    /// Where a node of a cluster hears the others.
    case bus(Int)
    case sentinel(Int)
}

/// Makes a gate for a place.
public typealias GateMaker = @Sendable (GatePlace) async throws -> any Gate
