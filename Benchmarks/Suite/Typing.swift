// Typing without observers, so that only its way through a worker and Redis is measured.

import RollcallClient
import RollcallLoad
import RollcallModel

/// Users who type, each alone in a room.
final class Typing {
    private var crowd: Crowd
    private var ready = 0
    private let frames: [[UInt8]]

    /// - Parameter addresses: the workers over which the users are spread.
    init(at addresses: [Crowd.Address], rooms count: Int) throws {
        crowd = try Crowd()
        let rooms = (0..<count).compactMap { try? ConversationID("room\($0)") }
        frames = rooms.map { DeviceFrame.message(.typing($0, true), id: .integer(2)) }
        for (number, room) in rooms.enumerated() {
            _ = try crowd.connect(to: addresses[number % addresses.count])
            crowd.send(
                DeviceFrame.message(.hello(.init(token: "user\(number)", device: "phone")))
                    + DeviceFrame.message(.join(room, presence: false), id: .integer(1)), from: number)
        }
        while ready < rooms.count { ready += try acknowledged { _, _ in } }
    }

    /// Sends signals as fast as they are accepted: each acknowledgement triggers the next signal.
    func signal(_ count: Int) throws {
        var (sent, done) = (0, 0)
        for number in 0..<frames.count {
            for _ in 0..<Signals.outstanding { crowd.send(frames[number], from: number) }
            sent += Signals.outstanding
        }
        let frames = frames
        while done < sent {
            done += try acknowledged { crowd, number in
                guard sent < count else { return }
                sent += 1
                crowd.send(frames[number], from: number)
            }
        }
    }

    /// Sends signals at a constant rate, room after room, even if earlier ones are not acknowledged yet.
    func signal(_ count: Int, aSecond rate: Double) throws {
        let start = now()
        var (sent, done) = (0, 0)
        while done < count {
            let due = min(count, Int((now() - start) * rate) + 1)
            while sent < due {
                crowd.send(frames[sent % frames.count], from: sent % frames.count)
                sent += 1
            }
            done += try acknowledged(within: .milliseconds(sent < count ? 1 : 10_000)) { _, _ in }
        }
    }

    private func acknowledged(
        within patience: Duration = .seconds(10), _ then: (inout Crowd, Int) -> Void
    ) throws -> Int {
        var (count, failure) = (0, false)
        let start = now()
        crowd.turn(for: patience) { crowd, number, event in
            switch event {
            case .text(let text) where text.starts(with: #"{"id":"#.utf8):
                count += 1
                then(&crowd, number)
            case .text, .opened: break
            case .closed: failure = true
            }
        }
        guard !failure, now() < start + 9 else { throw BenchFailure("a typist was lost, or not answered") }
        return count
    }
}
