// Prints a line for each published message.

import Foundation

/// The live view of changes in the terminal.
struct LiveView: Sendable {
    let redis: Part<PrivateRedis>
    let asJSON: Bool

    /// Shows changes until cancelled, also when Redis is started again.
    ///
    /// - Parameter listening: called once no further message can be missed.
    func run(listening: @escaping @Sendable () throws -> Void) async throws {
        // If the output is slow, older lines are dropped.
        let (sounds, all) = AsyncStream<Heard>.makeStream(bufferingPolicy: .bufferingNewest(1024))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await RedisListener(redis: redis).run { all.yield($0) } }
            group.addTask {
                var isListening = false
                for await heard in sounds {
                    switch heard {
                    case .listening:
                        if !isListening { try listening() }
                        isListening = true
                    case .message(let channel, let payload): try show(channel: channel, payload: payload)
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
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
