// `rollcall top`: asks a worker repeatedly, and shows its answers.

import Foundation
import RollcallModel
import RollcallTerminal
import RollcallWorker

/// A repeated view of all workers.
struct TopSession: Sendable {
    let port: AdminPort
    let interval: Duration

    /// How many intervals to wait for rates if the view is printed only once.
    private static let mostRounds = 5

    /// Shows the view on the terminal, until the user leaves.
    func show() async throws {
        var board = TopBoard(address: "\(port.address)")
        board.answered(try await ask().figures)
        let layOut = { @Sendable (board: TopBoard, size: Size) in TopScreen().screen(of: board, on: size) }
        try await LiveScreen.show(board, layOut: layOut) { screen in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await screen.untilLeft() }
                group.addTask {
                    try await follow { outcome in
                        try await screen.change { $0.take(outcome) }
                        return true
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Prints a line after each interval; or, with `once`, the view or a JSON line, as soon as there are rates.
    func lines(asJSON: Bool, once: Bool) async throws {
        var board = TopBoard(address: "\(port.address)")
        board.answered(try await ask().figures)
        var (told, rounds): (Timestamp?, Int) = (nil, 0)
        try await follow { outcome in
            board.take(outcome)
            rounds += 1
            if once, case .failure(let failure) = outcome { throw failure }
            // There may have been no heartbeat within the first interval.
            if once, board.total == LiveRates(), rounds < Self.mostRounds { return true }
            if asJSON {
                try Output.json(TopLine(outcome, board, eventsAfter: told))
                told = board.figures?.events.first?.at ?? told
            } else if once {
                try picture(of: board)
            } else {
                try Output.line(board.line)
            }
            return !once
        }
    }

    private func picture(of board: TopBoard) throws {
        let kind = TerminalDevice.kind
        let columns = kind.canDraw ? TerminalDevice().size.columns : 120
        let screen = TopScreen().screen(of: board, on: Size(columns: columns, rows: .max / 2))
        for line in screen.lines { try Output.line(kind.painter.printing(of: line)) }
    }

    private func ask() async throws(AdminFailure) -> AdminLive {
        try await port.attempt(.get, "live")
    }

    /// Asks at each interval, until `take` returns false.
    ///
    /// - Throws: errors that waiting cannot fix, and what `take` throws.
    private func follow(_ take: (Result<AdminLive, AdminFailure>) async throws -> Bool) async throws {
        var next = ContinuousClock.now
        while true {
            // After a stop (Ctrl-Z), missed intervals are skipped.
            next = max(next + interval, .now)
            try await Task.sleep(until: next)
            guard try await take(try await outcome()) else { return }
        }
    }

    /// Returns an answer, or why there is none for now.
    private func outcome() async throws(AdminFailure) -> Result<AdminLive, AdminFailure> {
        do {
            return .success(try await ask())
        } catch {
            guard error.retry else { throw error }
            return .failure(error)
        }
    }
}

extension TopBoard {
    mutating func take(_ outcome: Result<AdminLive, AdminFailure>) {
        switch outcome {
        case .success(let answer): answered(answer.figures)
        case .failure(let failure):
            let now = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            failed(failure.sentences[0], at: now)
        }
    }
}
