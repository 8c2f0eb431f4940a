// What one cheap message costs others, measured from outside on a real worker: commands and time of Redis, time of the
// worker, bytes to those who look on. `docs/hostile-input.md` has the bounds, and the tests hold workers to them.

internal import Harness
internal import Foundation
internal import TestSupport

/// One kind of message, sent by one session as fast as it may in the long run.
public struct Nuisance: Sendable, CustomStringConvertible {
    public let description: String
    /// What the most is that a message costs, on average.
    let bound: Bound
    /// The message of this number, without the `id`.
    let message: @Sendable (Int) -> String

    /// The most that one message may cost.
    struct Bound: Sendable {
        /// Commands to Redis, those within scripts included.
        var commands: Double
        /// Bytes to each of those who look on, where messages come as fast as they may: what is told once in a while
        /// counts for more of them when they come more slowly.
        var bytes: Double
        /// Bytes to the one who sends.
        var answer: Double
        /// How many times the worker's time for a `ping`.
        var pings: Double
    }
}

/// What one message of a kind cost, on average.
public struct Amplification: Sendable {
    public let nuisance: Nuisance
    public var commands = 0.0
    public var bytes = 0.0
    public var answer = 0.0
    /// How long it took to send them, in seconds.
    public var seconds = 0.0
    /// Microseconds.
    public var workerTime = 0.0
    public var redisTime = 0.0
    /// The worker's time, as so many times that of a `ping`; absent where the system does not tell.
    public var pings: Double?

    /// What costs more than it may.
    ///
    /// - Parameter judgesTime: whether the worker is built for release, as the bounds of its time are for.
    public func excess(judgesTime: Bool) -> [String] {
        let bound = nuisance.bound
        let pings = judgesTime ? pings : nil
        return [
            ("commands to Redis", commands, bound.commands),
            ("bytes to each of the others", bytes, bound.bytes * max(1, seconds / Gallery.usual)),
            ("bytes to the sender", answer, bound.answer),
            ("pings' worth of the worker's time", pings ?? 0, bound.pings),
        ].compactMap { what, cost, most in
            cost > most ? "\(nuisance): \(cost.formatted()) \(what), and \(most.formatted()) are allowed" : nil
        }
    }
}

/// A worker, and many on it who look on.
public final class Gallery: Sendable {
    private let redis: RedisServer
    private let worker: WorkerProcess
    private let onlookers = 100
    private let messages = 100
    /// How long it takes to send the messages on a machine with time, in seconds.
    static let usual = 2.0

    public init(settings: [String: String] = [:]) async throws {
        redis = try await RedisServer()
        worker = try await WorkerProcess("w1", redis: redis.url, settings: settings)
        let names = (0..<200).flatMap { ["member\($0)", "Member \($0)"] }
        try await redis.cli(["HSET", "members:{members}", "{managed}", "1"] + names)
    }

    /// What messages of each kind cost, and a `ping` first.
    public func measure(_ nuisances: [Nuisance] = Nuisance.all) async throws -> [Amplification] {
        // The first of a worker's messages are its slowest.
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
        let (port, onlookers, messages) = (worker.port, onlookers, messages)
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
        // Until everybody has been told of all who came.
        try await Task.sleep(for: .seconds(1))
        let quiet = try await usage(of: cast.value.others)
        try await Task.sleep(for: .seconds(1))
        let before = try await usage(of: cast.value.others)
        let heard = cast.value.talker.received
        let seconds = try await blocking {
            let talker = cast.value.talker
            let start = ContinuousClock.now
            for number in 0..<messages {
                talker.say(nuisance.message(number).dropLast() + #","id":\#(number)}"#)
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

    /// Strangers block, so they have a thread of their own.
    private func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
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

/// Redis does not say what it always says.
private struct Untold: Error {
    let field: String
}

/// What was used up until a moment.
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
    /// The time of processors that all its threads have had, in microseconds; 0 where the system does not tell.
    fileprivate var processorTime: Double {
        let tasks = URL(fileURLWithPath: "/proc/\(process.pid)/task")
        let threads = (try? FileManager.default.contentsOfDirectory(at: tasks, includingPropertiesForKeys: nil)) ?? []
        return threads.reduce(0) { time, thread in
            let statistics = try? String(contentsOf: thread.appending(path: "schedstat"), encoding: .utf8)
            return time + (statistics?.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1000
        }
    }
}

extension Nuisance {
    static let ping = Nuisance(
        description: "`ping`", bound: Bound(commands: 1, bytes: 1, answer: 60, pings: 1.01)
    ) { _ in #"{"type":"ping"}"# }

    public static let toggledState = Nuisance(
        description: "`state`, toggled", bound: Bound(commands: 2, bytes: 12, answer: 50, pings: 3)
    ) { #"{"type":"state","state":"\#($0.isMultiple(of: 2) ? "idle" : "active")"}"# }

    public static let all = [
        toggledState,
        Nuisance(description: "`typing`, toggled", bound: Bound(commands: 2, bytes: 12, answer: 50, pings: 4)) {
            #"{"type":"typing","conversation":"members","typing":\#($0.isMultiple(of: 2))}"#
        },
        Nuisance(
            description: "`watch` and `unwatch` of 100",
            bound: Bound(commands: 80, bytes: 1, answer: 9000, pings: 8)
        ) {
            #"{"type":"\#($0.isMultiple(of: 2) ? "watch" : "unwatch")","users":[\#(hundred)]}"#
        },
        Nuisance(description: "`get` of 100", bound: Bound(commands: 110, bytes: 1, answer: 14000, pings: 6)) {
            _ in
            #"{"type":"get","users":[\#(hundred)]}"#
        },
        Nuisance(description: "`join` and `leave`", bound: Bound(commands: 6, bytes: 1, answer: 120, pings: 5)) {
            #"{"type":"\#($0.isMultiple(of: 2) ? "join" : "leave")","conversation":"another"}"#
        },
        Nuisance(
            description: "`join` of 200 members, with presence and without",
            bound: Bound(commands: 150, bytes: 1, answer: 20000, pings: 12)
        ) {
            #"{"type":"join","conversation":"members","presence":\#($0.isMultiple(of: 2))}"#
        },
    ]

    private static let hundred = (0..<100).map { #""member\#($0)""# }.joined(separator: ",")
}
