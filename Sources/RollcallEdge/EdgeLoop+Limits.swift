// Limits on clients, and how often each took effect. Every limit is reported here, so that operators can see it in a
// metric and in the log, and neither can be flooded.

import Logging
import NIOCore
import RollcallCore
import RollcallListener
import RollcallModel
import RollcallShards

/// How often each limit took effect on one loop.
struct LimitCounts {
    /// The minimum time between two log lines about one limit.
    static let silence = Duration.seconds(60)

    private(set) var hits = Counts<Limit>()
    private var told: [Limit: Duration] = [:]

    /// - Returns: Whether to log it now.
    mutating func hit(_ limit: Limit, at awake: Duration) -> Bool {
        hits.count(limit)
        if let last = told[limit], awake - last < Self.silence { return false }
        told[limit] = awake
        return true
    }
}

extension EdgeLoop {
    /// A limit took effect: counts it, and logs it at most once a minute.
    func limitHit(_ limit: Limit) {
        guard limitCounts.hit(limit, at: clock.awake) else { return }
        logger.notice(
            "a limit holds", metadata: ["limit": "\(limit.rawValue)", "hits": "\(limitCounts.hits[limit])"])
    }
}

extension EdgeLoop {
    /// A connection did not begin with an HTTP request: a proxy may be set up wrongly. Scanners do the same.
    func metNoHTTP() {
        guard noHTTP.occurred("", at: .now) else { return }
        logger.info("a connection began with no HTTP method: a proxy that sends the PROXY protocol, or TLS, is refused")
    }

    /// A connection could not be accepted because no descriptor was free: counts and logs it as a problem for the
    /// administrator.
    func ranOutOfFiles(_ error: IOError) {
        _ = limitCounts.hit(.openFiles, at: clock.awake)
        logger.outOfFiles(error, port: "edge")
    }
}
