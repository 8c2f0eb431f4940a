// What happens, as it happens: `redis-cli` subscribes to everything that is published, as anyone may, and each message
// becomes a line.

import Foundation
import RollcallTerminal

/// The changes in the terminal.
struct LiveView: Sendable {
    let redis: any DevRedis
    let asJSON: Bool

    static let patterns = ["typing:*", "presence:*", "members:*"]

    /// How often it looks for a Redis that is away.
    private static let lookout = Duration.milliseconds(50)

    /// Shows changes until cancelled, of one Redis after another.
    ///
    /// - Parameter subscribed: called once nothing more can be missed.
    func run(subscribed: @escaping @Sendable () throws -> Void) async throws {
        var announcement: (@Sendable () throws -> Void)? = subscribed
        while true {
            if let primary = await redis.primary {
                do {
                    try await watch(primary, subscribed: announcement)
                } catch let ended as PartEnded {
                    // It went with its Redis, which was crashed, or is a primary no longer.
                    guard await hasLeft(primary) else { throw ended }
                    announcement = nil
                }
            }
            try await Task.sleep(for: Self.lookout)
        }
    }

    /// Whether the primary is another, or none, or will be as soon as it is known.
    private func hasLeft(_ primary: PrivateRedis) async -> Bool {
        for _ in 0..<100 {
            if await redis.primary?.pid != primary.pid { return true }
            try? await Task.sleep(for: Self.lookout)
        }
        return false
    }

    private func watch(
        _ redis: PrivateRedis, subscribed: (@Sendable () throws -> Void)?
    ) async throws {
        let child = try Child(
            "redis-cli", program: Program.find("redis-cli"),
            arguments: ["-h", "127.0.0.1", "-p", "\(redis.port)", "PSUBSCRIBE"] + Self.patterns)
        try await child.during {
            // redis-cli prints a push as its elements, a line each: "pmessage", the pattern, the channel, the payload.
            var push: [String] = []
            for await line in child.lines {
                if line == "pmessage" || line == "psubscribe" { push = [] }
                push.append(line)
                if push.count == 4, push[0] == "pmessage" { try show(channel: push[2], payload: push[3]) }
                if push == ["psubscribe", Self.patterns.last, "\(Self.patterns.count)"] { try subscribed?() }
            }
            try Task.checkCancellation()
            // Its output ends a moment before the process does, which is what says why.
            try await child.endingAsWanted()
        }
    }

    private func show(channel: String, payload: String) throws {
        if asJSON {
            try Output.line(Shown.json("{\"channel\":\(try quoted(channel)),\"message\":\(payload)}"))
        } else if let change = Change(payload) {
            let name = channel.padding(toLength: max(channel.count, 22), withPad: " ", startingAt: 0)
            try Output.line(Shown.text("\(Self.clock(change.at))  \(name)  \(change.sentence)"))
        }
    }

    private func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    /// The time of day, to the millisecond.
    private static func clock(_ milliseconds: Int64?) -> String {
        let date = milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) } ?? Date()
        let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: date)
        return String(
            format: "%02d:%02d:%02d.%03d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0,
            (parts.nanosecond ?? 0) / 1_000_000)
    }
}

/// Any of the messages, as far as a line tells of it.
private struct Change: Decodable {
    let user: String?
    let at: Int64?
    let typing: Bool?
    let expiresIn: Int64?
    let status: String?
    let devices: Int?
    let member: Bool?
    let name: String?

    init?(_ payload: String) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let change = try? decoder.decode(Change.self, from: Data(payload.utf8)) else { return nil }
        self = change
    }

    var sentence: String {
        let user = user.map { Shown.name($0) ?? "?" } ?? "everyone"
        if let typing {
            return typing ? "\(user) is typing, for \(expiresIn ?? 0) ms unless renewed" : "\(user) has stopped typing"
        }
        if let status {
            let devices = devices ?? 0
            return "\(user) is \(status), with \(devices) device\(devices == 1 ? "" : "s")"
        }
        if let member {
            let name = name.flatMap(Shown.name) ?? ""
            return member ? "\(user) is a member, as \(name)" : "\(user) is no longer a member"
        }
        return "the members were replaced"
    }
}
