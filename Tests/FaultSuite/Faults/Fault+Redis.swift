// Redis stops, loses its data, or does not answer.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let redisFaults =
        [killedAndEmpty, oldSnapshot, sleeping, paused, killedSubscribers, killedCommands]
        + [flushed, scriptsFlushed, slowSubscriber, noMemory, noClients, replica] + refusedWritesFaults
        + [
            split("commands") { try await $0.everyWay { try await $0.cut(.reset, .commands) } },
            split("messages") { try await $0.everyWay { try await $0.cut(.reset, .subscribers) } },
            split("one event loop's messages") { stage in
                let clients = try await stage.redis.cli("CLIENT", "LIST", "TYPE", "pubsub").split(separator: "\n")
                for name in ["w0-hears", "w1-hears", "w2-hears"] {
                    let id = clients.first { $0.contains(name) }?.prefix { $0 != " " }.dropFirst(3)
                    try await stage.redis.cli("CLIENT", "KILL", "ID", String(id ?? ""))
                }
            },
        ]

    private static let killedAndEmpty = Fault(.redis, "killed (-9), back empty after 10 s", on: [.server]) { stage in
        try await stage.outage(Outage(losesData: true)) {
            try await stage.killRedis()
        } end: {
            try await Task.sleep(for: .seconds(10))
            try await stage.startRedis()
        }
    }

    /// A replica that was promoted is at the address from now on, and the first goes on with all connections that are not
    /// cut.
    private static func split(_ name: String, cut: @escaping @Sendable (Stage) async throws -> Void) -> Fault {
        Fault(.redis, "another Redis at its address, \(name) cut", on: [.server]) { stage in
            let other = try await RedisServer()
            try await other.cli("REPLICAOF", "127.0.0.1", "\(stage.redis.whole.servers[0].port)")
            try await eventually("the replica has all data") {
                try await other.cli("INFO", "replication").contains("master_link_status:up")
            }
            // What was written to the first meanwhile.
            try await stage.outage(Outage(losesData: true)) {
                try await other.cli("REPLICAOF", "NO", "ONE")
                try await stage.everyWay { try await $0.aim(at: other.port) }
                try await cut(stage)
            } end: {
                try await Task.sleep(for: .seconds(10))
                stage.redis.become(other)
            }
        }
    }

    private static let sleeping = Fault(.redis, "DEBUG SLEEP 5", on: [.server]) { stage in
        try await stage.outage {
            Task { try await stage.redis.cli("DEBUG", "SLEEP", "5") }
        } end: { sleep in
            _ = try await sleep.value
        }
    }

    private static let paused = Fault(.redis, "CLIENT PAUSE, 5 s", on: [.server]) { stage in
        try await stage.outage {
            try await stage.redis.cli("CLIENT", "PAUSE", "5000")
            return Moment.now + .seconds(5)
        } end: { resumes in
            try await Task.sleep(until: resumes, clock: .continuous)
        }
    }

    static let killedSubscribers = Fault(.redis, "CLIENT KILL TYPE pubsub") { stage in
        try await stage.outage {
            try await stage.redis.everywhere("CLIENT", "KILL", "TYPE", "pubsub")
        } end: { _ in
        }
    }

    static let killedCommands = Fault(.redis, "CLIENT KILL TYPE normal") { stage in
        try await stage.outage {
            try await stage.redis.everywhere("CLIENT", "KILL", "TYPE", "normal")
        } end: { _ in
        }
    }

    static let flushed = Fault(.redis, "FLUSHALL under load") { stage in
        let load = try await stage.load()
        try await stage.outage(Outage(losesData: true)) {
            try await stage.redis.everywhere("FLUSHALL")
        } end: { _ in
        }
        try await load.end()
    }

    /// Users should notice nothing.
    private static let scriptsFlushed = Fault(.redis, "SCRIPT FLUSH under load") { stage in
        let load = try await stage.load()
        try await stage.outage {
            try await stage.redis.everywhere("SCRIPT", "FLUSH")
        } end: { _ in
        }
        let refusals = try await load.end()
        stage.found(.other, broken: refusals == 0 ? nil : "\(refusals) messages were refused")
    }
}
