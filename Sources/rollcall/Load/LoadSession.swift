// A running load: its processes, the workers' heartbeats, and the display of both.

import Foundation
import RollcallLoad
import RollcallTerminal
import RollcallWorker

/// One run of `rollcall load`.
struct LoadSession: Sendable {
    private let options: LoadOptions
    private let target: LoadTarget
    private let crew: LoadCrew

    /// How often the workers are asked, and after how many rounds a line is logged if the terminal cannot be drawn on.
    private static let interval = Duration.milliseconds(500)
    private static let linesEvery = 10
    /// How long to wait for the heartbeat that covers the end of the load.
    private static let lastBeat = Duration.seconds(3)

    init(_ options: LoadOptions, _ target: LoadTarget) throws {
        (self.options, self.target) = (options, target)
        crew = try LoadCrew(options, target)
    }

    /// Ends the load early.
    func stop() { crew.stop() }

    /// - Throws: ``LoadError`` if the load failed.
    func run() async throws -> LoadReport {
        if TerminalDevice.kind.canDraw, TerminalDevice.isInForeground {
            let layOut = { @Sendable (board: LoadBoard, _: Size) in Screen(lines: board.lines.map { Line(Span($0)) }) }
            try await LiveScreen.show(crew.board, layOut: layOut) { screen in
                try await work { board, _ in _ = try await screen.change { $0 = board } }
            }
        } else {
            Output.log("rollcall load: \(options.scenario.rawValue) at \(target.urls.joined(separator: ", "))")
            try await work { board, round in if round % Self.linesEvery == 0 { Output.log(board.line) } }
        }
        let board = crew.board
        return LoadReport(
            options.scenario, devices: options.devices, parts: board.parts.compactMap { $0 }, witness: board.witness,
            workers: board.workers, interrupted: crew.isStopped)
    }

    private func work(_ show: @escaping @Sendable (LoadBoard, Int) async throws -> Void) async throws {
        let result = await Result {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await crew.follow()
                    await awaitLastBeat()
                }
                group.addTask { try await watch(show) }
                group.addTask { try await endConnections() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        await crew.end()
        try result.get()
    }

    /// Shows the state of the load at each interval.
    private func watch(_ show: (LoadBoard, Int) async throws -> Void) async throws {
        for round in 0... {
            await ask()
            try await show(crew.board, round)
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Asks the workers for their figures. Without an answer their cost stays unknown, which the report states.
    private func ask() async {
        let live: AdminLive? = try? await target.admin.attempt(.get, "live")
        crew.heard(
            live?.workers.compactMap { worker in
                guard worker.alive, let beat = worker.beat, let cpu = worker.cpu else { return nil }
                return WorkersMeter.Beat(
                    worker: worker.incarnation, startedAt: worker.startedAt, at: beat, processor: cpu)
            })
    }

    private func awaitLastBeat() async {
        let (before, deadline) = (crew.board.workers.latest, ContinuousClock.now + Self.lastBeat)
        while before != nil, crew.board.workers.latest == before, .now < deadline, !Task.isCancelled {
            await ask()
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// If requested, ends a worker after a third of the measurement. Then waits until cancelled.
    private func endConnections() async throws {
        if options.scenario == .reconnect, let (pid, signal) = options.outage.signal {
            while !crew.board.isMeasured { try await Task.sleep(for: .milliseconds(20)) }
            try await Task.sleep(for: options.duration / 3)
            guard kill(pid, signal) == 0 else {
                throw LoadError("cannot signal process \(pid): \(String(cString: strerror(errno)))")
            }
        }
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }
}

extension Outage {
    /// The process to signal, and the signal.
    fileprivate var signal: (pid_t, Int32)? {
        switch self {
        case .cut, .wait: nil
        case .kill(let pid): (pid, SIGKILL)
        case .drain(let pid): (pid, SIGTERM)
        }
    }
}
