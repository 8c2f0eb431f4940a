// Where the devices of this process connect to its node: the edge without sockets.

internal import NIOConcurrencyHelpers
package import NIOCore
package import RollcallModel

/// Lets this process's own devices in.
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

    /// How many connections stand.
    package var connections: Int { state.withLockedValue { $0.connections } }

    /// Lets nobody in any more; the connections that stand are not touched.
    package func stopAccepting() {
        state.withLockedValue { $0.isOpen = false }
    }

    /// Opens a connection. To be called on an event loop of the node's group, on which everything happens from then on.
    ///
    /// - Returns: `nil` if the node lets nobody in any more.
    package func connect(
        _ user: UserID, on eventLoop: any EventLoop, listener: any LocalListener
    ) -> LocalConnection? {
        let isOpen = state.withLockedValue {
            if $0.isOpen { $0.connections += 1 }
            return $0.isOpen
        }
        guard isOpen else { return nil }
        let driver = node.shard(on: eventLoop)
        let connection = LocalConnection(of: user, to: driver, listener: listener) { [state] in
            state.withLockedValue { $0.connections -= 1 }
        }
        driver.connected(connection)
        return connection
    }
}
