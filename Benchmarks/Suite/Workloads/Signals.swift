// As many signals as a worker takes, from many people in many rooms, each with some on their way: Redis is what should
// limit them, and the floor is the same script from C.

import Foundation
import Harness
import RollcallClient
import RollcallLoad
import RollcallModel
import RollcallRedis
import TestSupport

/// What a signal takes when as many come as can.
struct Signals: Workload {
    static let rooms = 200
    static let outstanding = 4

    let count: Int
    let name = "signals as fast as they are taken, through one worker: time each"
    let unit = "µs"
    /// At least 80 % of the floor's rate.
    let target = Target.ratio(1.25)

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side, servers: 1)
        switch side {
        case .floor: return Pipeline(stand: stand, count: count)
        case .rollcall: return Typists(stand: stand, typists: try Typing(stand), count: count)
        }
    }

    private struct Pipeline: Measurable {
        let stand: Stand
        let count: Int

        func measure() async throws -> Sample {
            let script = stand.redis.folder.appending(path: "typing_signal.lua")
            guard let source = Script.all.first(where: { $0.name == "typing_signal" })?.source else {
                throw BenchFailure("there is no script of that name")
            }
            try source.write(to: script, atomically: true, encoding: .utf8)
            let before = stand.redisCost
            let floor = try ChildProcess([
                RollcallProgram.path(of: "floor"), "scripts", "--redis", "\(stand.redis.port)", "--script", script.path,
                "--rooms", "\(Signals.rooms)", "--count", "\(count)",
            ])
            try await floor.exitCode(within: .seconds(120))
            guard let match = floor.output.firstMatch(of: #/"seconds":([0-9.]+)/#), let seconds = Double(match.1) else {
                throw BenchFailure("the floor says \(floor.output)\(floor.errors)")
            }
            return Sample(
                value: seconds / Double(count) * 1e6,
                details: ["Redis, µs": (stand.redisCost - before).seconds / Double(count) * 1e6])
        }
    }

    private struct Typists: Measurable {
        let stand: Stand
        let typists: Typing
        let count: Int

        func measure() throws -> Sample {
            let (start, redis, server) = (now(), stand.redisCost, stand.serverCost)
            try typists.signal(count)
            let each = 1e6 / Double(count)
            return Sample(
                value: (now() - start) * each,
                details: [
                    "Redis, µs": (stand.redisCost - redis).seconds * each,
                    "worker, µs": (stand.serverCost - server).seconds * each,
                ])
        }
    }
}

/// People who type alone in rooms, and send the next signal when one is acknowledged.
final class Typing {
    private var crowd: Crowd
    private var ready = 0
    private let frames: [[UInt8]]

    init(_ stand: Stand) throws {
        crowd = try Crowd()
        let rooms = (0..<Signals.rooms).compactMap { try? ConversationID("room\($0)") }
        frames = rooms.map { DeviceFrame.message(.typing($0, true), id: .integer(2)) }
        for (number, room) in rooms.enumerated() {
            _ = try crowd.connect(to: stand.addresses[0])
            crowd.send(
                DeviceFrame.message(.hello(.init(token: "user\(number)", device: "phone")))
                    + DeviceFrame.message(.join(room, presence: false), id: .integer(1)), from: number)
        }
        while ready < rooms.count { ready += try acknowledged { _, _ in } }
    }

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

    private func acknowledged(_ then: (inout Crowd, Int) -> Void) throws -> Int {
        var (count, failure) = (0, false)
        let start = now()
        crowd.turn(for: .seconds(10)) { crowd, number, event in
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
