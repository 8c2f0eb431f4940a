// Decides which web pages may connect. Browsers send the page's origin and pages cannot forge it. Other programs send
// none and are not restricted.

import RollcallProtocol

/// Checks the header `Origin`.
struct OriginPolicy: Sendable {
    private let allowed: [OriginPattern]
    private let allowsAll: Bool
    private let listensOnLoopback: Bool
    /// Whether only this machine's own pages may connect, under one of its own names. With unproven tokens, being on
    /// this machine is the only proof. A page from elsewhere seems local if its name was made to resolve to this
    /// machine (DNS rebinding).
    let isForThisMachine: Bool

    /// - Parameters:
    ///   - origins: ``OriginPattern``s, or `*` for all. If empty, a page may connect to its own host, and a page of
    ///     this machine to an edge on loopback.
    ///   - host: The host on which the edge listens.
    ///   - trustsTokens: Whether tokens are accepted without proof.
    init(origins: [String], listeningOn host: String, trustsTokens: Bool = false) {
        allowed = origins.compactMap { try? OriginPattern($0) }
        allowsAll = origins.contains { ByteString($0) == "*" }
        listensOnLoopback = Loopback.contains(host)
        isForThisMachine = trustsTokens && origins.isEmpty
    }

    /// - Parameters:
    ///   - origin: The header `Origin`; `nil` if there is none.
    ///   - host: The header `Host`.
    func allows(_ origin: String?, host: String?) -> Bool {
        if isForThisMachine, !Loopback.contains(authority: ByteString(host ?? "")) { return false }
        guard let origin = origin.map({ ByteString($0.lowercased()) }), !allowsAll else { return true }
        guard allowed.isEmpty else { return allowed.contains { $0.matches(origin) } }
        guard let page = Loopback.host(ofOrigin: origin) else { return false }
        if !isForThisMachine, let host, page == Loopback.host(of: ByteString(host.lowercased())) { return true }
        return listensOnLoopback && Loopback.contains(page.string)
    }
}
