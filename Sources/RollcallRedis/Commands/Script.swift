// A Lua script. Redis runs it atomically and caches it under its SHA-1, which `SCRIPT LOAD` returns.

/// One atomic decision, as Lua source.
public struct Script: Hashable, Sendable {
    /// The name in errors and logs, unique among the scripts of a connection.
    public let name: String
    public let source: String
    /// The name of a call in errors.
    let label: String

    public init(name: String, source: String) {
        self.name = name
        self.source = source
        label = "EVALSHA \(name)"
    }

    /// The script for a cluster, where sharded pub/sub sends a message only to the slot of its channel and not to every
    /// node.
    package var sharded: Script { Script(name: name, source: source.replacing("'PUBLISH'", with: "'SPUBLISH'")) }
}
