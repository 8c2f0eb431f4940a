// `rollcall bench`: Redis, two workers, and blocking sockets on a thread of their own, with as little as possible between
// the kernel and a message.

import ArgumentParser
import Foundation
import RollcallClient
import RollcallProtocol
import Synchronization

/// Measures how long typing takes from one device to another.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure typing from device to device, over two workers and a private Redis.",
        discussion: """
            Measures each signal from the write at one device to the complete frame at another, on another worker. \
            Alternates with a plain PUBLISH to a plain SUBSCRIBE on the same Redis, the lower limit for any system \
            that uses it. Needs redis-server; keeps no data.
            """)

    @Option(help: "The number of signals to measure.")
    var signals = 1_000

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (1...1_000_000).contains(signals) else {
            throw ValidationError("--signals must be a number from 1 to 1000000")
        }
    }

    func run() async throws {
        try await Interruptible.run(as: "rollcall bench") { [signals, json] in
            let report = try await Self.measure(signals)
            if json { try Output.json(report) } else { try Output.line(report.table) }
        }
    }

    /// With these settings, every signal goes to Redis at once, and no limit applies.
    private static let overrides = ["typing.throttle=0s", "limits.message_rate=100000", "limits.message_burst=1000000"]

    /// - Throws: ``PartFailed``, ``BenchFailure``.
    private static func measure(_ signals: Int) async throws -> BenchReport {
        try await Deployment.during(Deployment.Settings(overrides: overrides)) { deployment in
            let (redis, workers) = (await deployment.redis, await deployment.ready)
            return try await onThread { isCancelled in
                try inTurns(signals, redis, from: workers[0], to: workers[1], until: isCancelled)
            }
        }
    }

    /// Does blocking work on a thread, and tells it when the task is cancelled.
    private static func onThread<Result: Sendable>(
        _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
    ) async throws -> Result {
        let flag = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: .init { try work { flag.isRaised } }) }
            }
        } onCancel: {
            flag.raise()
        }
    }

    /// Measures the floor and Rollcall in turns, so that other load on the machine affects both.
    private static func inTurns(
        _ signals: Int, _ redis: DevRedis, from: DevWorker, to: DevWorker, until isCancelled: () -> Bool
    ) throws -> BenchReport {
        let floor = try PublishProbe(redis)
        var typing = try TypingProbe(from: from, to: to)
        var (floors, latencies) = ([Duration](), [Duration]())
        // The first signals are not counted: connections and caches are cold.
        for number in -100..<signals {
            if isCancelled() { throw CancellationError() }
            let (publish, typed) = (try floor.measure(), try typing.measure())
            if number < 0 { continue }
            floors.append(publish)
            latencies.append(typed)
        }
        return BenchReport(signals: signals, typing: Latencies(latencies), publish: Latencies(floors))
    }
}

/// A flag that is raised once, for a thread that polls it.
private final class Cancellation: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

/// A peer of the bench did not behave as expected.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

// MARK: The result

/// The distribution of many latencies, in milliseconds.
private struct Latencies: Encodable {
    let p50, p99, max: Double

    var all: [Double] { [p50, p99, max] }

    /// - Parameter durations: at least one.
    init(_ durations: [Duration]) {
        let sorted = durations.sorted()
        func percentile(_ part: Double) -> Double {
            // The smallest value that is not exceeded by this fraction of all.
            (sorted[Int((Double(sorted.count) * part).rounded(.up)) - 1] / .microseconds(1)).rounded() / 1000
        }
        (p50, p99, max) = (percentile(0.5), percentile(0.99), percentile(1))
    }
}

/// Both measurements of a run, and their ratio.
private struct BenchReport: Encodable {
    let signals: Int
    /// From device to device, over two workers.
    let typing: Latencies
    /// From a bare PUBLISH to a bare SUBSCRIBE.
    let publish: Latencies

    /// The latencies in milliseconds, in aligned columns.
    var table: String {
        """
                                     p50      p99      max  ms
        typing, device to device\(cells(typing.all, 3))
        PUBLISH to SUBSCRIBE    \(cells(publish.all, 3))
        ratio                   \(cells(zip(typing.all, publish.all).map { $0 / $1 }, 1))
        \(signals) of each, in turns
        """
    }

    private func cells(_ values: [Double], _ digits: Int) -> String {
        values.map { value in
            let text = value.formatted(.number.precision(.fractionLength(digits)).grouping(.never))
            return String(repeating: " ", count: Swift.max(0, 9 - text.count)) + text
        }.joined()
    }
}

// MARK: What is measured

/// The lower limit: a publisher and a subscriber of one Redis, with nothing in between.
private struct PublishProbe {
    private let publisher: BlockingSocket
    private let subscriber: BlockingSocket
    private let command: [UInt8]
    private let message: [UInt8]

    init(_ redis: DevRedis) throws {
        publisher = try BlockingSocket(port: redis.port)
        subscriber = try BlockingSocket(port: redis.port)
        // As long as the messages that typing publishes.
        let channel = "typing:{bench-floor}"
        let payload = #"{"user":"bench-floor","typing":true,"expires_in":3000,"at":1700000000000}"#
        command = Self.array(["PUBLISH", channel, payload])
        message = Self.array(["message", channel, payload])
        try subscriber.write(Self.array(["SUBSCRIBE", channel]))
        // The reply consists of the same two words and a number.
        _ = try subscriber.read(Self.array(["subscribe", channel]).count + ":1\r\n".utf8.count)
    }

    /// Returns the time from the write to the complete message.
    func measure() throws -> Duration {
        let start = ContinuousClock.now
        try publisher.write(command)
        let heard = try subscriber.read(message.count)
        let latency = start.duration(to: .now)
        guard heard == message else { throw BenchFailure("Redis delivered a different message than was published") }
        _ = try publisher.read(through: "\r\n")
        return latency
    }

    /// Returns an array of bulk strings in RESP.
    private static func array(_ words: [String]) -> [UInt8] {
        Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
    }
}

/// Two devices of two users in one conversation: one types, and the other, on another worker, observes.
private struct TypingProbe {
    private let typist: RawDevice
    private let observer: RawDevice
    private let conversation: ConversationID = "bench"
    private var isTyping = false

    init(from first: DevWorker, to second: DevWorker) throws {
        typist = try RawDevice("alice", at: first, in: conversation)
        observer = try RawDevice("bob", at: second, in: conversation)
    }

    /// Starts or stops typing. Either change is published and shown at once.
    ///
    /// - Returns: the time from the write at the typing device to the complete frame at the observing one.
    mutating func measure() throws -> Duration {
        isTyping.toggle()
        let frame = RawDevice.frame(.typing(conversation, isTyping))
        let start = ContinuousClock.now
        try typist.socket.write(frame)
        while true {
            let (message, arrival) = try observer.receive()
            if case .typing(let typing) = message, typing.count == (isTyping ? 1 : 0) {
                return start.duration(to: arrival)
            }
        }
    }
}

/// A device that has sent its hello and joined a conversation.
private struct RawDevice {
    let socket: BlockingSocket

    /// - Parameter user: the user, and also the token, for a worker with `auth.mode: insecure`.
    init(_ user: String, at worker: DevWorker, in conversation: ConversationID) throws {
        guard let port = URLComponents(string: worker.edge)?.port else { throw BenchFailure("no edge: \(worker.edge)") }
        socket = try BlockingSocket(port: port)
        let lines = [
            "GET /v1/connect HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", "",
        ]
        try socket.write(Array(lines.joined(separator: "\r\n").utf8))
        let answer = try socket.read(through: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 101 ") else { throw BenchFailure("the worker opened no WebSocket: \(answer)") }
        try socket.write(Self.frame(.hello(.init(token: ByteString(user), device: "bench"))))
        let joined = MessageID.integer(1)
        try socket.write(Self.frame(.join(conversation, presence: false), id: joined))
        while case (let message, _) = try receive(), message != .ack(joined) {}
    }

    static func frame(_ message: ClientMessage, id: MessageID? = nil) -> [UInt8] {
        frame(0x81, MessageCodec().json(of: ClientRequest(message, id: id)))
    }

    /// Returns a short frame. Its mask is all zeros: RFC 6455 requires a mask, but workers do not check its value.
    private static func frame(_ head: UInt8, _ payload: [UInt8]) -> [UInt8] {
        precondition(payload.count < 126, "the bench sends only short messages")
        return [head, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    /// Returns the next message, and when the last byte of its frame had arrived.
    func receive() throws -> (ServerMessage, ContinuousClock.Instant) {
        while true {
            let head = try socket.read(2)
            // The 8-byte form of a length is not needed here.
            let length = head[1] == 126 ? try socket.read(2).reduce(0) { $0 << 8 | Int($1) } : Int(head[1])
            let payload = try socket.read(length)
            let arrival = ContinuousClock.now
            switch head[0] & 0x0F {
            case 1: return (try MessageCodec().message(from: payload), arrival)
            case 9: try socket.write(Self.frame(0x8A, payload))
            case let opcode: throw BenchFailure("the worker ended the connection, or sent opcode \(opcode)")
            }
        }
    }
}
