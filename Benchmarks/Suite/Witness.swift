// Two users who were there before, and keep typing to each other while a server is busy with others.

import Foundation
import Synchronization

/// Two users in a room, on a separate thread.
final class Witness: Sendable {
    private let flag: Flag
    private let result: Task<[Double], any Error>

    init(_ stand: Stand) throws {
        let box = Box(try Room(stand, people: 2))
        let flag = Flag()
        self.flag = flag
        result = Task {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try Self.type(in: box.room, until: flag) })
                }
            }
        }
    }

    /// Ends the typing.
    ///
    /// - Returns: the latency of each signal, in seconds.
    func end() async throws -> [Double] {
        flag.value.store(true, ordering: .relaxed)
        return try await result.value
    }

    /// Sends 20 signals per second. Latency counts from when a signal was due, so a late one does not hide that of the
    /// next.
    private static func type(in room: Room, until over: Flag) throws -> [Double] {
        var latencies: [Double] = []
        var (next, isTyping) = (now(), true)
        while !over.value.load(ordering: .relaxed) {
            while now() < next { _ = room.listen(milliseconds: Int((next - now()) * 1_000)) }
            room.type(isTyping, on: 0)
            while !room.listen(milliseconds: 1_000).contains(where: {
                $0.device == 1 && $0.typing == (isTyping ? 1 : 0)
            }) {
                guard now() < next + 10 else { throw BenchFailure("a witness's signal did not arrive") }
            }
            latencies.append(now() - next)
            isTyping.toggle()
            next += 0.05
        }
        return latencies
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Passes the room to the thread, which alone uses it from then on.
    private struct Box: @unchecked Sendable {
        let room: Room
        init(_ room: Room) { self.room = room }
    }
}
