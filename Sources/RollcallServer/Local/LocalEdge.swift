// Connects devices of this process to its node: the edge without sockets.

internal import NIOConcurrencyHelpers
package import NIOCore
package import RollcallProtocol

/// Accepts devices of this process.
package final class LocalEdge: Sendable {
    private let node: Node
    private let state = NIOLockedValueBox(State())

    private struct State {
        var isOpen = true
        var connections = 0
    }

    package init(_ node: Node) {
        self.node = node
    }

    /// How many connections are open.
    package var connections: Int { state.withLockedValue { $0.connections } }

    /// Stops accepting; open connections are not affected.
    package func stopAccepting() {
        state.withLockedValue { $0.isOpen = false }
    }

    /// Opens a connection. Call it on an event loop of the node's group; the connection stays on that loop.
    ///
    /// - Returns: `nil` if the node no longer accepts connections.
    package func connect(
        _ user: UserID, _ profile: Profile, on eventLoop: any EventLoop, listener: any LocalListener
    ) -> LocalConnection? {
        let isOpen = state.withLockedValue {
            if $0.isOpen { $0.connections += 1 }
            return $0.isOpen
        }
        guard isOpen else { return nil }
        let driver = node.shard(on: eventLoop)
        let connection = LocalConnection(of: user, profile, to: driver, listener: listener) { [state] in
            state.withLockedValue { $0.connections -= 1 }
        }
        connection.connect()
        return connection
    }
}
