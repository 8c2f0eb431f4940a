// Prints a line for each message that is published in Redis, with the help of `redis-cli`.

import Foundation
import RollcallWorker

/// The view of changes in the terminal.
struct Changes: Sendable {
    let deployment: Deployment
    let asJSON: Bool

    private static let patterns = ["typing:*", "presence:*", "members:*"]

    /// How often it checks whether a server is back.
    private static let pause = Duration.milliseconds(50)

    /// Shows changes until cancelled, also when Redis is started again.
    ///
    /// - Parameter listening: called once no further message can be missed.
    func show(listening: @Sendable () throws -> Void) async throws {
        var isListening = false
        while true {
            if await deployment.isUp("redis") {
                try await follow(await deployment.redis) {
                    if !isListening { try listening() }
                    isListening = true
                }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Shows what one server publishes, until it is gone. The output of a crashed server ends; if `redis-cli` ends for
    /// another reason, it is started again.
    private func follow(_ server: DevRedis, listening: () throws -> Void) async throws {
        let child = try Child(
            "redis-cli", program: Program.find("redis-cli"),
            arguments: ["-h", "127.0.0.1", "-p", "\(server.port)", "PSUBSCRIBE"] + Self.patterns)
        let result = await Result {
            // Each element of a push is printed on a line of its own.
            var push: [String] = []
            for await line in child.lines {
                if line == "pmessage" || line == "psubscribe" { push = [] }
                push.append(line)
                if push.count == 4, push[0] == "pmessage" { try show(channel: push[2], payload: push[3]) }
                if push == ["psubscribe", Self.patterns.last, "\(Self.patterns.count)"] { try listening() }
            }
            try Task.checkCancellation()
        }
        await child.stop()
        try result.get()
    }

    private func show(channel: String, payload: String) throws {
        if asJSON {
            let quoted = String(decoding: try JSONEncoder().encode(channel), as: UTF8.self)
            try Output.line(Shown.json("{\"channel\":\(quoted),\"message\":\(payload)}"))
        } else if let change = Change(payload) {
            let name = channel.padding(toLength: max(channel.count, 22), withPad: " ", startingAt: 0)
            try Output.line(Shown.text("\(Self.clock(change.at))  \(name)  \(change.sentence)"))
        }
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

/// Any published message, with the fields that are shown.
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
