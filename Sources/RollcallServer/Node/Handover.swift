// Where a draining worker sends its devices: to live workers that are not draining and that clients can reach.

internal import NIOCore
internal import RollcallCore
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

    /// Returns the workers to which one at `own` may send devices, each with a weight: what it has less than the mean, and, where
    /// this worker sends all of its own, a tenth of that, so that no figure that is a heartbeat old decides alone.
    ///
    /// Workers behind one load balancer share an address, so devices find them without being redirected.
    ///
    /// - Parameters:
    ///   - peers: `edge.peers`. Workers publish their addresses in Redis, and devices send their tokens to the
    ///     address that they receive.
    ///   - mean: How many sessions each is to have; `nil` for as many as all have on average once this worker has none.
    ///   - sessions: How many this worker has.
    static func destinations(
        _ others: [WorkerCard], from own: String, peers: [String] = [], mean: Int? = nil, sessions: Int = 0
    ) -> [Destination] {
        let policy = PeerPolicy(peers, own: own)
        let staying = Dictionary(
            others.filter { !$0.isDraining && $0.edge != ByteString(own) }.map { ($0.edge, $0.sessions) }
        ) {
            $0 + $1
        }.filter { isReachable($0.key, from: own) && policy.allows($0.key) }
        let usual = Double(staying.values.reduce(sessions, +)) / Double(max(1, staying.count))
        let (level, least) = mean.map { (Double($0), 0) } ?? (usual, max(usual / 10, 1))
        return staying.map { Destination($0.key, weight: max(0, level - Double($0.value)) + least) }
            .filter { $0.weight > 0 }.sorted { $0.address < $1.address }
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
