// Limits on clients, and how often each took effect. Every limit is reported here, so that operators can see it in a
// metric and in the log, and neither can be flooded.

import Logging
import NIOCore
import RollcallCore
import RollcallModel

/// All limits of the edge. The names are values of the metric label `limit` and do not change.
enum Limit: String, CaseIterable {
    case sessions
    case sessionsPerUser = "sessions_per_user"
    case hellosPerUser = "hellos_per_user"
    case connectionRate = "connection_rate"
    case connectionsPerAddress = "connections_per_address"
    case connectionRatePerAddress = "connection_rate_per_address"
    case handshakes
    /// Descriptors available to this process.
    case openFiles = "open_files"
    case headerBytes = "header_bytes"
    case origins
    case hello
    case messageBytes = "message_bytes"
    case messageRate = "message_rate"
    case names
    case watchedUsers = "watched_users"
    case joinedConversations = "joined_conversations"
    case outboundBytes = "outbound_bytes"
    case pongs
    case frames
}

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
    /// A connection could not be accepted because no descriptor was free: counts and logs it as a problem for the
    /// administrator.
    func ranOutOfFiles(_ error: IOError) {
        _ = limitCounts.hit(.openFiles, at: clock.awake)
        logger.outOfFiles(error, port: "edge")
    }
}

extension Logger {
    /// Logs that a listening socket cannot accept, once per shortage.
    func outOfFiles(_ error: IOError, port: String) {
        self.warning("connections wait: no open file is left", metadata: ["port": "\(port)", "reason": "\(error)"])
    }
}

extension Limit {
    init(_ limit: SessionLimit) {
        self =
            switch limit {
            case .hello: .hello
            case .messageRate: .messageRate
            case .names: .names
            case .watchedUsers: .watchedUsers
            case .joinedConversations: .joinedConversations
            }
    }
}
