// The limit of open WebSockets per client address, over all event loops.

import NIOConcurrencyHelpers

/// Enforces `limits.connections_per_address`. Addresses of this machine are exempt, because a local proxy that is not
/// configured would count as one client.
final class AddressLimits: Sendable {
    private let most: Int
    private let connections = NIOLockedValueBox<[ClientAddress: Int]>([:])

    /// - Parameter connections: The most WebSockets per address; 0 for no limit.
    /// - Returns: `nil` if nothing is limited.
    init?(connections: Int) {
        guard connections > 0 else { return nil }
        most = connections
    }

    /// Counts a new WebSocket, unless its address has reached the limit. Release each counted one exactly once.
    func take(_ address: ClientAddress) -> Bool {
        guard !address.isLocal else { return true }
        return connections.withLockedValue { connections in
            let open = connections[address] ?? 0
            guard open < most else { return false }
            connections[address] = open + 1
            return true
        }
    }

    /// Whether ``take(_:)`` would succeed.
    func hasRoom(_ address: ClientAddress) -> Bool {
        address.isLocal || connections.withLockedValue { $0[address] ?? 0 } < most
    }

    func release(_ address: ClientAddress) {
        guard !address.isLocal else { return }
        connections.withLockedValue { connections in
            guard let open = connections[address] else { return }
            connections[address] = open > 1 ? open - 1 : nil
        }
    }

    /// How many addresses are stored.
    var remembered: Int { connections.withLockedValue { $0.count } }
}
