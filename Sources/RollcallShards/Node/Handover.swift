// Where a draining worker sends its devices: to live workers that are not draining and that clients can reach.

internal import Logging
internal import NIOCore
internal import RollcallModel
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
        return reachable(others, from: own).filter { policy.allows($0) }
    }

    /// Returns the addresses of workers that could take devices but are excluded, for example by `edge.peers`.
    static func leftOut(_ others: [WorkerCard], from own: String, peers: [String] = []) -> [LeftOut] {
        let policy = PeerPolicy(peers, own: own)
        guard let home = EdgeURL(ByteString(own)) else { return [] }
        return reachable(others, from: own).filter { !policy.allows($0) }.compactMap { url in
            EdgeURL(url).map { LeftOut(edge: url, host: $0.host, lacksTLS: home.isEncrypted && !$0.isEncrypted) }
        }
    }

    /// A worker that could take devices but gets none.
    struct LeftOut: Hashable {
        let edge: ByteString
        let host: String
        let lacksTLS: Bool

        var advice: String {
            lacksTLS
                ? "devices do not follow from wss:// to ws://: give that worker an edge.public_url of wss://"
                : "if that worker is yours, add \(host) to edge.peers"
        }
    }

    /// Logs each of these workers once.
    static func note(_ leftOut: [LeftOut], _ logger: Logger) {
        for other in leftOut {
            logger.notice(
                "no device is sent to a worker", metadata: ["edge": "\(other.edge)", "advice": "\(other.advice)"])
        }
    }

    /// The addresses of other workers that are not draining and that clients can reach, each once.
    private static func reachable(_ others: [WorkerCard], from own: String) -> [ByteString] {
        let staying = Set(others.filter { !$0.isDraining }.map(\.edge))
        return staying.subtracting([ByteString(own)]).filter { isReachable($0, from: own) }.sorted()
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
