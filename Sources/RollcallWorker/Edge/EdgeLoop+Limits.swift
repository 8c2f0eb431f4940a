// What strangers may not exceed, and how often each of them tried. Whatever keeps a limit says so here: an operator then
// sees which one holds, by a metric and by a line in the log, and neither can be flooded.

import Logging
import NIOCore
import RollcallCore
import RollcallModel

/// Everything that the edge bounds. The names are those of the metric's label `limit`, and stay.
enum Limit: String, CaseIterable {
    case sessions
    case sessionsPerUser = "sessions_per_user"
    case hellosPerUser = "hellos_per_user"
    case connectionRate = "connection_rate"
    case connectionsPerAddress = "connections_per_address"
    case connectionRatePerAddress = "connection_rate_per_address"
    case handshakes
    /// Descriptors that the system gives this process.
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

/// How often each limit has held on one loop.
struct LimitCounts {
    /// How long the log is silent about a limit of which it has told.
    static let silence = Duration.seconds(60)

    private(set) var hits = Counts<Limit>()
    private var told: [Limit: Duration] = [:]

    /// - Returns: whether it is time to tell of it.
    mutating func hit(_ limit: Limit, at awake: Duration) -> Bool {
        hits.count(limit)
        if let last = told[limit], awake - last < Self.silence { return false }
        told[limit] = awake
        return true
    }
}

extension EdgeLoop {
    /// A limit has held: counts it, and tells the log of it at most once a minute.
    func limitHit(_ limit: Limit) {
        guard limitCounts.hit(limit, at: clock.awake) else { return }
        logger.notice(
            "a limit holds", metadata: ["limit": "\(limit.rawValue)", "hits": "\(limitCounts.hits[limit])"])
    }
}

extension EdgeLoop {
    /// A connection could not be accepted for want of a descriptor: counts it, and logs it as the administrator's
    /// concern.
    func ranOutOfFiles(_ error: IOError) {
        _ = limitCounts.hit(.openFiles, at: clock.awake)
        logger.outOfFiles(error, port: "edge")
    }
}

extension Logger {
    /// Logs that a listening socket cannot accept, once for each shortage.
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
