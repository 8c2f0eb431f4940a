// Measures, from outside on a real worker, what one cheap message costs: commands and time of Redis, time of the
// worker, bytes to observers. `docs/limits.md` lists the bounds, which the tests enforce.

internal import Foundation
internal import Harness
internal import TestSupport

/// The average cost of one message of a kind.
public struct Amplification: Sendable {
    public let nuisance: Nuisance
    public var commands = 0.0
    public var bytes = 0.0
    public var answer = 0.0
    /// The time that sending took, in seconds.
    public var seconds = 0.0
    /// In microseconds.
    public var workerTime = 0.0
    public var redisTime = 0.0
    /// The worker's time as a multiple of that for a `ping`; `nil` if the system does not report it.
    public var pings: Double?

    /// Returns what exceeds its bound.
    ///
    /// - Parameter judgesTime: whether the worker is a release build, which the bounds on its time are for.
    public func excess(judgesTime: Bool) -> [String] {
        let bound = nuisance.bound
        let pings = judgesTime ? pings : nil
        return [
            ("commands to Redis", commands, bound.commands),
            ("bytes to each of the others", bytes, bound.bytes * max(1, seconds / nuisance.usualSeconds)),
            ("bytes to the sender", answer, bound.answer),
            ("pings' worth of the worker's time", pings ?? 0, bound.pings),
        ].compactMap { what, cost, most in
            cost > most ? "\(nuisance): \(cost.formatted()) \(what), and \(most.formatted()) are allowed" : nil
        }
    }
}

/// A worker with many observers.
public final class Gallery: Sendable {
    private let redis: RedisServer
    private let worker: WorkerProcess
    private let onlookers = 100

    public init(settings: [String: String] = [:]) async throws {
        redis = try await RedisServer()
        worker = try await WorkerProcess("w1", redis: redis.url, settings: settings)
        let names = (0..<200).flatMap { ["member\($0)", "Member \($0)"] }
        try await redis.cli(["HSET", "members:{members}", "{managed}", "1"] + names)
    }

    /// Measures the cost of messages of each kind, after that of a `ping`.
    public func measure(_ nuisances: [Nuisance] = Nuisance.all) async throws -> [Amplification] {
        // A worker's first messages are its slowest.
        _ = try await cost(of: Nuisance.ping)
        let ping = try await cost(of: Nuisance.ping)
        var costs = [ping]
        for nuisance in nuisances { costs.append(try await cost(of: nuisance)) }
        for index in costs.indices where ping.workerTime > 0 {
            costs[index].pings = costs[index].workerTime / ping.workerTime
        }
        return costs
    }

    private func cost(of nuisance: Nuisance) async throws -> Amplification {
        let user = "member\(Int.random(in: onlookers..<200))"
        let (port, onlookers, messages) = (worker.port, onlookers, nuisance.count)
        let cast = try await blocking {
            let talker = try Stranger(port: port)
            try talker.enter(token: user, device: "talker")
            talker.say(#"{"type":"join","conversation":"members"}"#)
            let others = try (0..<onlookers).map { number in
                let other = try Stranger(port: port)
                try other.enter(token: "member\(number)", device: "desk")
                other.say(#"{"type":"watch","users":["\#(user)"]}"#)
                other.say(#"{"type":"join","conversation":"members","id":"in"}"#)
                guard other.text(within: .seconds(10), where: { $0.contains(#""id":"in""#) }) != nil else {
                    throw Stranger.Unreachable()
                }
                return other
            }
            return Handed((talker: talker, others: others))
        }
        // Waits until all observers have been informed of all others.
        try await Task.sleep(for: .seconds(1))
        let quiet = try await usage(of: cast.value.others)
        try await Task.sleep(for: .seconds(1))
        let before = try await usage(of: cast.value.others)
        let heard = cast.value.talker.received
        let seconds = try await blocking {
            let talker = cast.value.talker
            let start = ContinuousClock.now
            for number in 0..<messages {
                switch nuisance.way {
                case .message(let message):
                    talker.say(message(number).replacing("USER", with: user).dropLast() + #","id":\#(number)}"#)
                case .session:
                    let visitor = try Stranger(port: port)
                    try visitor.enter(token: user, device: "visitor")
                    visitor.say(#"{"type":"goodbye"}"#)
                }
                usleep(20_000)
                talker.catchUp()
            }
            talker.say(#"{"type":"unwatch","users":["nobody"],"id":"end"}"#)
            guard talker.text(within: .seconds(60), where: { $0.contains(#""id":"end""#) }) != nil else {
                throw Stranger.Unreachable()
            }
            return (ContinuousClock.now - start) / .seconds(1)
        }
        try await Task.sleep(for: .seconds(1))
        let after = try await usage(of: cast.value.others)
        for stranger in cast.value.others + [cast.value.talker] { stranger.say(#"{"type":"goodbye"}"#) }
        return Amplification(
            nuisance, of: messages, in: seconds, answer: cast.value.talker.received - heard, others: onlookers,
            after - before - (before - quiet) * ((after.at - before.at) / (before.at - quiet.at)))
    }

    private func usage(of others: [Stranger]) async throws -> Usage {
        let info = try await redis.cli("INFO", "all")
        func field(_ name: String) throws -> Double {
            let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
            guard let value = line.flatMap({ Double($0.dropFirst(name.count + 1)) }) else { throw Untold(field: name) }
            return value
        }
        return Usage(
            at: .now, commands: try field("total_commands_processed"),
            redisTime: 1_000_000 * (try field("used_cpu_sys") + field("used_cpu_user")),
            workerTime: worker.processorTime, bytes: Double(others.reduce(0) { $0 + $1.waiting }))
    }
}

/// Runs this on a new thread, since ``Stranger`` blocks.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Redis did not report a field that it always reports.
private struct Untold: Error {
    let field: String
}

/// Resources used up to a moment.
private struct Usage {
    var at: ContinuousClock.Instant
    var commands: Double
    var redisTime: Double
    var workerTime: Double
    var bytes: Double

    static func - (after: Usage, before: Usage) -> Usage {
        Usage(
            at: after.at, commands: after.commands - before.commands, redisTime: after.redisTime - before.redisTime,
            workerTime: after.workerTime - before.workerTime, bytes: after.bytes - before.bytes)
    }

    static func * (usage: Usage, factor: Double) -> Usage {
        Usage(
            at: usage.at, commands: usage.commands * factor, redisTime: usage.redisTime * factor,
            workerTime: usage.workerTime * factor, bytes: usage.bytes * factor)
    }
}

extension Amplification {
    fileprivate init(
        _ nuisance: Nuisance, of messages: Int, in seconds: Double, answer: Int, others: Int, _ used: Usage
    ) {
        self.nuisance = nuisance
        self.seconds = seconds
        commands = used.commands / Double(messages)
        bytes = used.bytes / Double(messages * others)
        self.answer = Double(answer) / Double(messages)
        workerTime = used.workerTime / Double(messages)
        redisTime = used.redisTime / Double(messages)
    }
}

extension WorkerProcess {
    /// The processor time of all threads, in microseconds; 0 if the system does not report it.
    var processorTime: Double {
        let tasks = URL(fileURLWithPath: "/proc/\(process.pid)/task")
        let threads = (try? FileManager.default.contentsOfDirectory(at: tasks, includingPropertiesForKeys: nil)) ?? []
        return threads.reduce(0) { time, thread in
            let statistics = try? String(contentsOf: thread.appending(path: "schedstat"), encoding: .utf8)
            return time + (statistics?.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1000
        }
    }
}
