// What a third party receives: everything that is published, byte for byte, as redis-cli prints it.

import TestSupport

final class RawSubscriber: Sendable {
    struct Message: Hashable, CustomStringConvertible {
        let channel: String
        let payload: String

        var description: String { "\(channel) \(payload)" }
    }

    private let process: ChildProcess
    private let store: StoreUnderTest

    /// Subscribes to all channels of the store's Redis.
    init(to store: StoreUnderTest) async throws {
        let process = try ChildProcess(["redis-cli", "-p", "\(store.redis.port)", "PSUBSCRIBE", "*"])
        self.process = process
        self.store = store
        try await eventually("redis-cli has subscribed") { process.output.contains("psubscribe\n*\n1\n") }
    }

    deinit {
        process.kill()
    }

    /// Returns everything published until this call.
    func heard() async throws -> [Message] {
        // A new mark for each call, since the last line so far may be the mark of an earlier call.
        let mark = String(UInt64.random(in: 0 ... .max))
        try await store.command("PUBLISH", "end", mark)
        try await eventually("all messages have come") { self.process.output.hasSuffix("end\n\(mark)\n") }
        let lines = process.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(3).dropLast()
        let messages = stride(from: lines.startIndex, to: lines.endIndex - 3, by: 4).map {
            Message(channel: String(lines[$0 + 2]), payload: String(lines[$0 + 3]))
        }
        return messages.filter { $0.channel != "end" }
    }
}
