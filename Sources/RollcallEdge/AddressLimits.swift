// Limits per client address, over all event loops: open WebSockets, and new ones per second.

import NIOCore
import RollcallListener
import RollcallShards
import Synchronization

/// Enforces `limits.connections_per_address` and `limits.connection_rate_per_address`. Addresses of this machine are
/// exempt, because a local proxy that is not configured would count as one client.
final class AddressLimits: Sendable {
    /// How many seconds' worth of connections may arrive at once: an office reconnects all at once after an outage.
    static let burst = 10

    /// The state of one address.
    fileprivate struct Account {
        var connections = 0
        var pace: AcceptPace
    }

    fileprivate struct Accounts {
        var of: [ClientAddress: Account] = [:]
        /// The number of accounts at which idle ones are removed.
        var sweepAt = 1024
    }

    private let connections: Int
    private let rate: Int
    private let accounts = Mutex(Accounts())

    /// - Parameters:
    ///   - connections: The most WebSockets per address; 0 for no limit.
    ///   - rate: The most new ones per second; 0 for no limit.
    /// - Returns: `nil` if nothing is limited.
    init?(connections: Int, rate: Int) {
        guard connections > 0 || rate > 0 else { return nil }
        self.connections = connections
        self.rate = rate
    }

    /// Counts a new WebSocket, or returns the limit that it exceeds. Release each counted one exactly once.
    func take(_ address: ClientAddress, at now: NIODeadline) -> Limit? {
        guard !address.isLocal else { return nil }
        return accounts.withLock { accounts in
            var account =
                accounts.of[address] ?? Account(pace: AcceptPace(rate: rate, burst: rate * Self.burst))
            if connections > 0, account.connections >= connections { return .connectionsPerAddress }
            if rate > 0 {
                guard account.pace.wait(at: now) == .zero else { return .connectionRatePerAddress }
                account.pace.accepted(at: now)
            }
            account.connections += 1
            accounts.of[address] = account
            accounts.sweep(at: now)
            return nil
        }
    }

    func release(_ address: ClientAddress) {
        guard !address.isLocal else { return }
        accounts.withLock { accounts in
            guard var account = accounts.of[address] else { return }
            account.connections -= 1
            accounts.of[address] = account
        }
    }

    /// How many addresses are stored.
    var remembered: Int { accounts.withLock { $0.of.count } }
}

extension AddressLimits.Accounts {
    /// Removes addresses without connections and with a full allowance. It runs only when the number of addresses has
    /// doubled, because a few idle ones cost little.
    fileprivate mutating func sweep(at now: NIODeadline) {
        guard of.count >= sweepAt else { return }
        of = of.filter { $0.value.connections > 0 || !$0.value.pace.isRested(at: now) }
        sweepAt = max(1024, of.count * 2)
    }
}
