// What one address may have of the worker, over all its loops: so many WebSockets at once, and so many new ones a second.

import NIOCore
import Synchronization

/// Keeps `limits.connections_per_address` and `limits.connection_rate_per_address`. This machine's own addresses are not
/// limited: a proxy on it, of whom nobody has told the worker, would be taken for one client.
final class AddressLimits: Sendable {
    /// Beside those a second, so many seconds' worth may come at once: an office comes back together after an outage.
    static let burst = 10

    /// What is known of an address.
    fileprivate struct Account {
        var connections = 0
        var pace: AcceptPace
    }

    fileprivate struct Accounts {
        var of: [ClientAddress: Account] = [:]
        /// At how many accounts those of no more interest are looked for.
        var sweepAt = 1024
    }

    private let connections: Int
    private let rate: Int
    private let accounts = Mutex(Accounts())

    /// - Parameters:
    ///   - connections: WebSockets of one address at once; 0 for any number.
    ///   - rate: new ones a second; 0 for any number.
    /// - Returns: nil if nothing is limited.
    init?(connections: Int, rate: Int) {
        guard connections > 0 || rate > 0 else { return nil }
        self.connections = connections
        self.rate = rate
    }

    /// Counts a new WebSocket, or says which limit keeps it out. Each that is counted is to be released once.
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

    /// How many addresses are remembered.
    var remembered: Int { accounts.withLock { $0.of.count } }
}

extension AddressLimits.Accounts {
    /// Forgets addresses that have nothing and may come as fast as ever. As a few addresses more than are in use cost
    /// little, that is looked for only when their number has doubled.
    fileprivate mutating func sweep(at now: NIODeadline) {
        guard of.count >= sweepAt else { return }
        of = of.filter { $0.value.connections > 0 || !$0.value.pace.isRested(at: now) }
        sweepAt = max(1024, of.count * 2)
    }
}
