// Which web pages may connect. A browser names the page's origin and cannot be made to lie by it; other programs name
// none, and need no leave.

import RollcallModel

/// Decides about the header `Origin`.
struct OriginPolicy: Sendable {
    private let allowed: Set<String>
    private let listensOnLoopback: Bool
    /// Whether only this machine's own pages may connect, under one of its own names. Where a token proves nothing, to
    /// be here is all the proof there is; and a page of anywhere seems to be here if its name was made to mean this
    /// machine (DNS rebinding).
    let isForThisMachine: Bool

    /// - Parameters:
    ///   - origins: exact origins, such as `https://chat.example.com`, or `*` for all. If there are none, a page may
    ///     connect to the host that it came from, and a page of this machine to an edge that listens on loopback only.
    ///   - host: where the edge listens.
    ///   - trustsTokens: whether what tokens say is believed without a proof.
    init(origins: [String], listeningOn host: String, trustsTokens: Bool = false) {
        allowed = Set(origins.map { $0.lowercased() })
        listensOnLoopback = Loopback.contains(host)
        isForThisMachine = trustsTokens && origins.isEmpty
    }

    /// - Parameters:
    ///   - origin: the header `Origin`; nil if there is none.
    ///   - host: the header `Host`.
    func allows(_ origin: String?, host: String?) -> Bool {
        if isForThisMachine, !Loopback.contains(authority: host ?? "") { return false }
        guard let origin = origin?.lowercased(), !allowed.contains("*") else { return true }
        guard allowed.isEmpty else { return allowed.contains(origin) }
        let parts = origin.parts(at: "/")
        guard parts.count == 3, parts[0].ends(with: ":"), parts[1].isEmpty else { return false }
        let page = Loopback.host(of: parts[2])
        if !isForThisMachine, let host, page == Loopback.host(of: host.lowercased()) { return true }
        return listensOnLoopback && Loopback.contains(page)
    }
}
