// A worker, a witness on it, and attacks one after another.

internal import Foundation
public import Harness
internal import TestSupport

/// A worker under attack.
public final class Siege: Sendable {
    /// The result of an attack.
    public struct Report: Sendable {
        public let attack: Attack
        public let times: Int
        public let outcomes: Attack.Outcomes
        public let witness: Witness.Testimony
        public let wasWitnessLost: Bool
        /// The worker's resident memory before and after, in KiB.
        public let memory: (before: Int, after: Int)

        /// The outcomes that are not correct.
        public var wrong: Attack.Outcomes { outcomes.filter { !attack.answers.contains($0.key) } }
    }

    public let worker: WorkerProcess
    let redis: RedisServer
    private let witness: Witness
    private let keys: URL

    /// - Parameter signedTokens: whether the worker requires signed tokens; otherwise, user names serve as tokens.
    /// - Parameter asks: whether an app's server decides who may join. Nothing answers there: who has joined was let in before.
    public init(signedTokens: Bool, asks: Bool = false, settings: [String: String] = [:]) async throws {
        redis = try await RedisServer()
        keys = FileManager.default.temporaryDirectory.appending(path: "rollcall-siege-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        // Few enough that a crowd could use them all. Limits for addresses count the one that the proxy reports: the proxy's
        // own is loopback, which does not count.
        var settings = [
            "limits.sessions": "150", "edge.trusted_proxies": "127.0.0.1", "limits.connections_per_address": "100",
        ].merging(settings) { $1 }
        if signedTokens {
            try Data(AttackedKeys.secret.utf8).write(to: keys.appending(path: "secret"))
            try Data(AttackedKeys.jwks.utf8).write(to: keys.appending(path: "jwks"))
            (settings["auth.mode"], settings["conversations.default"]) = ("jwt", "open")
            settings["access.watch"] = "anyone"
            settings["auth.secret_file"] = keys.appending(path: "secret").path
            settings["auth.jwks_file"] = keys.appending(path: "jwks").path
        }
        if asks {
            let secret = keys.appending(path: "access")
            try Data("whsec_\(Data(AttackedKeys.secret.utf8).base64EncodedString())".utf8).write(to: secret)
            settings["conversations.default"] = ""
            (settings["access.url"], settings["access.secret_file"]) = ("http://127.0.0.1:1/", secret.path)
        }
        worker = try await WorkerProcess("w1", redis: redis.url, settings: settings)
        try await redis.cli("SET", "canary", "sings")
        witness = try Witness(
            port: worker.port, token: signedTokens ? Attack.goodToken : "witness", name: "witness")
    }

    deinit {
        try? FileManager.default.removeItem(at: keys)
    }

    /// Returns what the witness observes without an attack.
    public func quiet(for time: Duration) async throws -> Witness.Testimony {
        _ = witness.testimony()
        let end = ContinuousClock.now + time
        try await eventually("the witness has watched", within: .seconds(60)) { ContinuousClock.now >= end }
        return witness.testimony()
    }

    /// Runs an attack this many times; one with a crowd runs until this many connections were made.
    public func play(_ attack: Attack, times: Int) async throws -> Report {
        let before = try await memory()
        _ = witness.testimony()
        let count = attack.crowd.map { max(1, times / $0) } ?? times
        let outcomes = try await rounds(of: attack, count)
        return Report(
            attack: attack, times: outcomes.values.reduce(0, +), outcomes: outcomes, witness: witness.testimony(),
            wasWitnessLost: witness.wasLost, memory: (before, try await memory()))
    }

    private func rounds(of attack: Attack, _ count: Int) async throws -> Attack.Outcomes {
        let port = worker.port
        return try await blocking {
            try (0..<count).reduce(into: [:]) { outcomes, _ in
                let user = "m\(UInt64.random(in: 0 ... .max))"
                let round = try attack.play(Attack.Stage.Place(port: port, user: user))
                outcomes.merge(round) { $0 + $1 }
            }
        }
    }

    /// The worker's resident memory, in KiB.
    private func memory() async throws -> Int {
        if let status = try? String(contentsOfFile: "/proc/\(worker.process.pid)/status", encoding: .utf8) {
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return line.flatMap { Int($0.split(separator: " ", omittingEmptySubsequences: true).dropFirst()[1]) } ?? 0
        }
        let ps = try ChildProcess(["ps", "-o", "rss=", "-p", "\(worker.process.pid)"])
        try await ps.exitCode()
        try await eventually("ps was read") { ps.outputEnded }
        return Int(ps.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Returns other damage: Redis keys that do not belong to Rollcall, and log lines that are not valid.
    public func damage() async throws -> [String] {
        let keys = try await redis.cli("--scan").split(separator: "\n").filter { key in
            key != "canary" && !["typing:{", "presence:{", "{workers}", "worker:{"].contains { key.hasPrefix($0) }
        }
        let lines = worker.process.errors.split(separator: "\n").filter {
            $0.firstMatch(of: #/^\d{4}-\d\d-\d\dT/#) == nil
        }
        let canary = try await redis.cli("GET", "canary")
        return keys.map { "the key \($0)" } + lines.map { "the line \($0)" }
            + (canary == "sings" ? [] : ["the canary is gone"])
            + (worker.process.isRunning ? [] : ["the worker is gone"])
    }
}

extension Attack {
    /// A valid token.
    static let goodToken = signed(#"{"alg":"HS256"}"#, mac(Data(AttackedKeys.secret.utf8)))
}
