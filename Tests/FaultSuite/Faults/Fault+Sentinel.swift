// A primary monitored by sentinels stops, is suspended, or is demoted. Its last writes may be lost.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Outage {
    /// The new primary may lack the last writes, and may have leases that were already given up. Until these expire,
    /// reads treat them as valid.
    static func failover(_ settings: Settings, mayLoseGoodbye: Bool = false) -> Outage {
        Outage(
            losesData: true, readsAreWrongFor: settings.lease + .seconds(2), mayLoseGoodbye: mayLoseGoodbye)
    }
}

extension Fault {
    static let sentinelFaults = [primaryKilled, primaryStalled, failedOver, demoted, splitOff, sentinelsGone]

    private static func sentinel(
        _ name: String, body: @escaping @Sendable (Stage, SentinelSet) async throws -> Void
    ) -> Fault {
        Fault(.redis, "Sentinel: \(name)", on: [.sentinel]) { stage in
            guard let set = stage.redis.whole.sentinels else {
                preconditionFailure("the stage has what it was equipped with")
            }
            try await body(stage, set)
        }
    }

    private static let primaryKilled = sentinel("primary killed (-9)") { stage, set in
        try await stage.outage(.failover(stage.settings)) {
            set.servers[0].process.kill()
        } end: { _ in
            _ = try await set.primary(besides: set.servers[0])
        }
    }

    /// It resumes as a primary, and is then made a replica.
    private static let primaryStalled = sentinel("primary stopped (SIGSTOP), and continued after its failover") {
        stage, set in
        try await stage.outage(.failover(stage.settings, mayLoseGoodbye: true)) {
            set.servers[0].process.signal(SIGSTOP)
        } end: { _ in
            _ = try await set.primary(besides: set.servers[0])
            set.servers[0].process.signal(SIGCONT)
        }
    }

    private static let failedOver = sentinel("SENTINEL FAILOVER under load") { stage, set in
        let load = try await stage.load()
        try await stage.outage(.failover(stage.settings)) {
            try await set.failOver()
        } end: { _ in
        }
        try await load.end()
    }

    /// The sentinels find that all servers are replicas, and promote another one.
    private static let demoted = sentinel("primary made a replica (REPLICAOF)") { stage, set in
        try await stage.outage(.failover(stage.settings)) {
            try await stage.redis.cli("REPLICAOF", "127.0.0.1", "\(set.port(of: set.servers[1]))")
        } end: { _ in
            _ = try await set.primary()
        }
    }

    /// Configured as operators are told to, the old primary soon refuses writes, and the worker beside it waits.
    private static let splitOff = sentinel(
        "primary and one worker cut off from all others, until others have a new one"
    ) {
        stage, set in
        let old = set.servers[0]
        for server in set.servers {
            try await server.cli("CONFIG", "SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "2")
        }
        try await stage.split {
            try await stage.redis.network.split(off: 0, with: 0)
        } promoted: {
            let new = try await set.primary(besides: old)
            try await eventually("it has a replica, and takes writes") {
                try await new.cli("INFO", "replication").contains("min_slaves_good_slaves:1")
            }
        } end: {
            try await stage.redis.network.heal()
            try await eventually("it is a replica") { try await old.cli("ROLE").hasPrefix("slave") }
        }
    }

    /// Users should notice nothing.
    private static let sentinelsGone = sentinel("all sentinels killed, and started after 5 s, under load") {
        stage, set in
        let load = try await stage.load()
        try await stage.outage {
            try await set.killSentinels()
        } end: { _ in
            try await Task.sleep(for: .seconds(5))
            try await set.startSentinels()
        }
        let refusals = try await load.end()
        stage.found(.other, broken: refusals == 0 ? nil : "\(refusals) messages were refused")
    }
}
