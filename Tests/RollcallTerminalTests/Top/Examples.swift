import RollcallModel
import RollcallTerminal

/// Sample workers for tests.
enum Examples {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static func worker(_ name: String, at time: Timestamp = now, totals: LiveFigures.Totals = .init())
        -> LiveFigures.Worker
    {
        var worker = LiveFigures.Worker(name)
        (worker.beat, worker.leaseEnd) = (time, time.advanced(by: .milliseconds(4_600)))
        (worker.startedAt, worker.host, worker.version) = (now.advanced(by: .seconds(-7_300)), "vm1", "0.1.0")
        (worker.sessions, worker.totals) = (100, totals)
        return worker
    }

    /// Two workers, one of an older version, and a dead one, `seconds` after the first answer.
    static func figures(after seconds: Int64) -> LiveFigures {
        let time = now.advanced(by: .seconds(seconds))
        let busy = worker(
            "w1.3f9a2c417b06", at: time,
            totals: .init(
                signals: 1_000 + 40 * seconds, published: 500 + 20 * seconds, delivered: 9_000 + 1_234 * seconds,
                cpu: 60_000 + 125 * seconds))
        var old = worker("w2.28a2222a6c16", at: time)
        (old.isDraining, old.version, old.sessions) = (true, "0.0.9", 7)
        var dead = worker("w3.71369f331856", at: now)
        (dead.isAlive, dead.leaseEnd) = (false, now.advanced(by: .seconds(-3)))
        return LiveFigures(
            time: time, worker: busy.name, redis: .init(median: 180, slow: 12_400), workers: [busy, old, dead],
            conversations: [.init("c42", typing: 12, joined: 80), .init("lobby", typing: 3, joined: 4_000)],
            events: [
                .init(
                    at: time.advanced(by: .seconds(-2)), level: "notice", message: "swept a dead worker",
                    facts: ["worker": "w9.0", "devices": "12"]),
                .init(at: time.advanced(by: .seconds(-90)), level: "warning", message: "Redis is away", times: 3),
            ])
    }

    /// The state after two answers.
    static var board: TopBoard {
        var board = TopBoard(address: "http://127.0.0.1:8081")
        board.answered(figures(after: 0))
        board.answered(figures(after: 2))
        return board
    }
}
