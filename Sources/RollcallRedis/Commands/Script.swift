// A Lua script: Redis runs it as one atomic step and remembers it by its SHA-1, which it tells us when we load it.

/// One atomic decision, as Lua source.
public struct Script: Hashable, Sendable {
    /// What errors and logs call it; no two scripts of a connection share a name.
    public let name: String
    public let source: String
    /// How errors name a call of it.
    let label: String

    public init(name: String, source: String) {
        self.name = name
        self.source = source
        label = "EVALSHA \(name)"
    }

    /// The same for a cluster, in which a message goes to the slot of its channel and not to every node.
    package var sharded: Script { Script(name: name, source: source.replacing("'PUBLISH'", with: "'SPUBLISH'")) }
}
