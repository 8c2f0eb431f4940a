// A load as it is seen: the crew at work, the workers' hearts beside it, and the picture of both.

import Foundation
import RollcallLoad
import RollcallTerminal
import RollcallWorker

/// One run of `rollcall load`.
struct LoadSession: Sendable {
    private let options: LoadOptions
    private let target: LoadTarget
    private let crew: LoadCrew

    /// How often workers are asked, and how often is told of it where nothing can be drawn.
    private static let interval = Duration.milliseconds(500)
    private static let linesEvery = 10
    /// How long a heartbeat is waited for that tells of the end.
    private static let lastBeat = Duration.seconds(3)

    init(_ options: LoadOptions, _ target: LoadTarget) throws {
        (self.options, self.target) = (options, target)
        crew = try LoadCrew(options, target)
    }

    /// Ends it before its time.
    func stop() { crew.stop() }

    /// - Throws: ``LoadError`` if it came to nothing.
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

    /// Shows how things stand, again and again.
    private func watch(_ show: (LoadBoard, Int) async throws -> Void) async throws {
        for round in 0... {
            await ask()
            try await show(crew.board, round)
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Where no admin port answers, nothing is known of the workers' cost, which the report says.
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

    /// A worker is ended a third of the time over, where that was asked for; then there is nothing more to do.
    private func endConnections() async throws {
        if options.scenario == .reconnect, let (pid, signal) = options.outage.signal {
            while !crew.board.isMeasured { try await Task.sleep(for: .milliseconds(20)) }
            try await Task.sleep(for: options.duration / 3)
            guard kill(pid, signal) == 0 else {
                throw LoadError("process \(pid) got no signal: \(String(cString: strerror(errno)))")
            }
        }
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }
}

extension Outage {
    /// Which signal goes to which process.
    fileprivate var signal: (pid_t, Int32)? {
        switch self {
        case .cut, .wait: nil
        case .kill(let pid): (pid, SIGKILL)
        case .drain(let pid): (pid, SIGTERM)
        }
    }
}
