// The data in each heartbeat, stored at `{workers}:INCARNATION`.

internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The constant part of a worker's heartbeats.
struct HeartbeatText: Sendable {
    private let lease: Duration
    private let host: String
    private let edge: String
    private let access: String
    private let pid = ProcessInfo.processInfo.processIdentifier
    private let startedAt = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
    private let sessions: @Sendable () -> Int

    init(_ settings: NodeSettings, edge: String, host: String, sessions: @escaping @Sendable () -> Int) {
        lease = settings.lease
        self.edge = edge
        access = settings.accessRules
        self.host = host
        self.sessions = sessions
    }

    func heartbeat(for beat: LeaseCoordinator.Beat) -> Heartbeat {
        let (mode, incarnation): (Heartbeat.Mode, Incarnation) =
            switch beat {
            case .begin(let incarnation): (.begin, incarnation)
            case .renew(let incarnation): (.renew, incarnation)
            case .end(let incarnation, let after): (.end(after: after), incarnation)
            }
        var heartbeat = Heartbeat(
            mode: mode, incarnation: incarnation, lease: lease, host: host, pid: pid, edge: edge,
            startedAt: startedAt, sessions: sessions(), version: RollcallVersion.current)
        heartbeat.access = access
        return heartbeat
    }
}

/// The version of this software.
public enum RollcallVersion {
    public static let current = "0.1.0"
}
