// Where a worker that leaves sends its devices: to others that stand, stay, and can be reached from where devices are.

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
    /// Enough others to spread over: of more, some are picked.
    static let mostAsked = 64

    /// Whom to ask where they can be reached: others whose lease stands.
    static func candidates(in snapshot: LeaseSnapshot, besides own: Incarnation) -> [Incarnation] {
        let standing = snapshot.leases.filter { $0.key != own && $0.value >= snapshot.time }
        return Array(standing.keys.shuffled().prefix(mostAsked))
    }

    /// The addresses to which a worker at `own` may send devices.
    ///
    /// Workers behind one load balancer share an address: a device finds its way there without being told.
    ///
    /// - Parameter peers: `edge.peers`. What others say of themselves is in Redis, and devices show their tokens to whom
    ///   they are sent.
    static func destinations(_ others: [WorkerCard], from own: String, peers: [String] = []) -> [String] {
        let policy = PeerPolicy(peers, own: own)
        return reachable(others, from: own).filter { policy.allows($0) }
    }

    /// The addresses of workers that could take devices, and to which a worker at `own` sends none for its `edge.peers`.
    static func leftOut(_ others: [WorkerCard], from own: String, peers: [String] = []) -> [LeftOut] {
        let policy = PeerPolicy(peers, own: own)
        guard let home = EdgeURL(own) else { return [] }
        return reachable(others, from: own).filter { !policy.allows($0) }.compactMap { url in
            EdgeURL(url).map { LeftOut(edge: url, host: $0.host, lacksTLS: home.isEncrypted && !$0.isEncrypted) }
        }
    }

    /// A worker that could take devices, and gets none.
    struct LeftOut: Hashable {
        let edge: String
        let host: String
        let lacksTLS: Bool

        var advice: String {
            lacksTLS
                ? "devices do not follow from wss:// to ws://: give that worker an edge.public_url of wss://"
                : "if that worker is yours, add \(host) to edge.peers"
        }
    }

    /// Those whose devices come back another way, each once.
    static func note(_ leftOut: [LeftOut], _ logger: Logger) {
        for other in leftOut {
            logger.notice(
                "no device is sent to a worker", metadata: ["edge": "\(other.edge)", "advice": "\(other.advice)"])
        }
    }

    /// The addresses of others that stay and can be reached from where devices are, each once.
    private static func reachable(_ others: [WorkerCard], from own: String) -> [String] {
        let staying = Set(others.filter { !$0.isDraining }.map(\.edge))
        return staying.subtracting([own]).filter { isReachable($0, from: own) }.sorted()
    }

    /// Whether `url` says where somebody can be reached. A worker that listens on every address of its host names
    /// none, and one on loopback is for those alone who are there too.
    private static func isReachable(_ url: String, from own: String) -> Bool {
        guard let host = EdgeURL(url)?.host else { return false }
        let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress
        if address == "0.0.0.0" || address == "::" { return false }
        return !Loopback.contains(host) || EdgeURL(own).map { Loopback.contains($0.host) } == true
    }
}
