// Where a draining worker sends its devices: to live workers that are not draining and that clients can reach.

internal import NIOCore
internal import RollcallProtocol
internal import RollcallRedis

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

enum Handover {
    /// Enough workers to spread over. If there are more, some are picked at random.
    static let mostAsked = 64

    /// Returns the workers to ask for addresses: others with a current lease.
    static func candidates(in snapshot: LeaseSnapshot, besides own: Incarnation) -> [Incarnation] {
        let standing = snapshot.leases.filter { $0.key != own && $0.value >= snapshot.time }
        return Array(standing.keys.shuffled().prefix(mostAsked))
    }

    /// Returns the addresses to which a worker at `own` may send devices.
    ///
    /// Workers behind one load balancer share an address, so devices find them without being redirected.
    ///
    /// - Parameter peers: `edge.peers`. Workers publish their addresses in Redis, and devices send their tokens to the
    ///   address that they receive.
    static func destinations(_ others: [WorkerCard], from own: String, peers: [String] = []) -> [ByteString] {
        let policy = PeerPolicy(peers, own: own)
        let staying = Set(others.filter { !$0.isDraining }.map(\.edge)).subtracting([ByteString(own)])
        return staying.filter { isReachable($0, from: own) && policy.allows($0) }.sorted()
    }

    /// Whether clients can reach `url`. A wildcard address is not reachable, and a loopback address only from the same
    /// machine.
    private static func isReachable(_ url: ByteString, from own: String) -> Bool {
        guard let host = EdgeURL(url)?.host else { return false }
        let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress
        if address == "0.0.0.0" || address == "::" { return false }
        return !Loopback.contains(host) || EdgeURL(ByteString(own)).map { Loopback.contains($0.host) } == true
    }
}
