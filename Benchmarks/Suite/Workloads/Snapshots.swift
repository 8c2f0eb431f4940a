// The presence of many users at once, over a WebSocket, and over HTTP as a server requests it. The floor reads the
// records from Redis without parsing them.

import Harness
import RollcallClient
import RollcallLoad
import RollcallModel
import TestSupport

/// The time until the first presence of many users has arrived.
struct Snapshots: TargetedWorkload {
    enum Way: String {
        case watch, http
    }

    private static let rounds = 20

    let users: Int
    let way: Way
    var name: String { "presence of \(users) people at once, by \(way.rawValue): time" }
    let unit = "ms"
    var target: Target { .ratio(way == .watch ? 1.5 : 2) }

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        // The same users are watched repeatedly, which would exceed the lookup budget of the default setting.
        let stand = try await Stand(.rollcall, servers: 1, settings: ["limits.watched_users": "100000"])
        let guests = try Guests()
        try guests.gather(users, at: stand, acknowledgements: 1) { number in
            DeviceFrame.message(.hello(.init(token: "user\(number)", device: "phone")), id: .integer(1))
        }
        switch (side, way) {
        case (.floor, _): return Records(stand: stand, guests: guests, users: users)
        case (.rollcall, .watch): return Watching(stand: stand, guests: guests, users: users)
        case (.rollcall, .http):
            return Asking(
                stand: stand, guests: guests, line: try await HTTPLine(port: stand.adminPorts[0]), users: users)
        }
    }

    private struct Records: Measurable {
        let stand: Stand
        let guests: Guests
        let users: Int

        func measure() async throws -> Sample {
            let floor = try ChildProcess([
                RollcallProgram.path(of: "floor"), "reads", "--redis", "\(stand.redis.port)", "--users", "\(users)",
                "--rounds", "\(Snapshots.rounds)",
            ])
            try await floor.exitCode(within: .seconds(60))
            try await eventually("the floor's figures are read") { floor.outputEnded }
            return Sample(value: median(floor.output.split(separator: "\n").compactMap { Double($0) }) * 1_000)
        }
    }

    private struct Watching: Measurable {
        let stand: Stand
        let guests: Guests
        let users: Int

        func measure() throws -> Sample {
            let names = (0..<users).compactMap { try? UserID("user\($0)") }
            let watch = DeviceFrame.message(.watch(names), id: .integer(1))
            let unwatch = DeviceFrame.message(.unwatch(names), id: .integer(1))
            let times = try (0..<Snapshots.rounds).map { _ in
                let start = now()
                try guests.ask(watch, from: 0)
                let took = now() - start
                try guests.ask(unwatch, from: 0)
                // Waits until the worker has unsubscribed in Redis, which is not part of a snapshot.
                guests.rest(seconds: 0.02)
                return took
            }
            return Sample(value: median(times) * 1_000)
        }
    }

    private struct Asking: Measurable {
        let stand: Stand
        let guests: Guests
        let line: HTTPLine
        let users: Int

        func measure() async throws -> Sample {
            let path = "/v1/presence?" + (0..<users).map { "user=user\($0)" }.joined(separator: "&")
            var times: [Double] = []
            for _ in 0..<Snapshots.rounds {
                let start = now()
                let answer = try await line.get(path, within: .seconds(10))
                times.append(now() - start)
                guard answer.status == 200 else { throw BenchFailure("the admin port answers \(answer.status)") }
            }
            return Sample(value: median(times) * 1_000)
        }
    }
}
