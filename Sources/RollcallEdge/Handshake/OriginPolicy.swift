// Decides which web pages may connect. Browsers send the page's origin and pages cannot forge it. Other programs send
// none and are not restricted.

import RollcallModel
import RollcallShards

/// Checks the header `Origin`.
struct OriginPolicy: Sendable {
    private let allowed: Set<ByteString>
    private let listensOnLoopback: Bool
    /// Whether only this machine's own pages may connect, under one of its own names. With unproven tokens, being on
    /// this machine is the only proof. A page from elsewhere seems local if its name was made to resolve to this
    /// machine (DNS rebinding).
    let isForThisMachine: Bool

    /// - Parameters:
    ///   - origins: Exact origins, such as `https://chat.example.com`, or `*` for all. If empty, a page may connect to
    ///     its own host, and a page of this machine to an edge on loopback.
    ///   - host: The host on which the edge listens.
    ///   - trustsTokens: Whether tokens are accepted without proof.
    init(origins: [String], listeningOn host: String, trustsTokens: Bool = false) {
        allowed = Set(origins.map { ByteString($0.lowercased()) })
        listensOnLoopback = Loopback.contains(host)
        isForThisMachine = trustsTokens && origins.isEmpty
    }

    /// - Parameters:
    ///   - origin: The header `Origin`; `nil` if there is none.
    ///   - host: The header `Host`.
    func allows(_ origin: String?, host: String?) -> Bool {
        if isForThisMachine, !Loopback.contains(authority: ByteString(host ?? "")) { return false }
        guard let origin = origin.map({ ByteString($0.lowercased()) }), !allowed.contains("*") else { return true }
        guard allowed.isEmpty else { return allowed.contains(origin) }
        guard let page = Loopback.host(ofOrigin: origin) else { return false }
        if !isForThisMachine, let host, page == Loopback.host(of: ByteString(host.lowercased())) { return true }
        return listensOnLoopback && Loopback.contains(page.string)
    }
}
