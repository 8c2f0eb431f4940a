// The processes of a load: those that carry it, and the witness.

import Foundation
import RollcallLoad
import RollcallModel
import Synchronization

/// Starts the processes, tells them when to begin and to stop, and collects their reports.
final class LoadCrew: Sendable {
    private let children: [Child]
    private let state: Mutex<State>

    private struct State {
        var board: LoadBoard
        /// The last heartbeat before all processes had gathered, if there was one; `nil` until they have gathered.
        var beatWhenReady: Timestamp??
        var hasBegun = false
        var isStopped = false
    }

    /// The time from the order to the moment at which all processes begin.
    private static let notice = Duration.milliseconds(200)

    init(_ options: LoadOptions, _ target: LoadTarget) throws {
        let count = options.count
        // The arguments of this process, plus the URLs if it found the workers itself.
        let arguments =
            CommandLine.arguments.dropFirst() + (target.isFound ? target.urls.flatMap { ["--url", $0] } : [])
        children = try ((0..<count).map { "\($0)/\(count)" } + ["witness"]).map { part in
            try Child(
                "part \(part) of the load", program: Program.own, arguments: arguments + ["--part", part],
                errors: { Output.log($0) })
        }
        state = Mutex(
            State(
                board: LoadBoard(
                    options.scenario, devices: options.devices, processes: count, duration: options.duration)))
    }

    var board: LoadBoard { state.withLock(\.board) }
    /// Whether the load was interrupted.
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Handles the workers' heartbeats; `nil` if no admin port answers. The measurement begins with the first heartbeat
    /// after all devices have gathered, so that the cost of gathering is not included.
    func heard(_ beats: [WorkersMeter.Beat]?) {
        let begins = state.withLock { state in
            if let beats { state.board.workers.heard(beats) }
            guard !state.hasBegun, let beat = state.beatWhenReady else { return false }
            guard beats == nil || state.board.workers.latest != beat else { return false }
            state.hasBegun = true
            state.board.workers.begin()
            return true
        }
        guard begins else { return }
        let order = Order.begin(.now + Self.notice)
        for child in children { child.say(order.line) }
    }

    /// Requests the report so far from all processes.
    func stop() {
        state.withLock { $0.isStopped = true }
        for child in children { child.say(Order.stop.line) }
    }

    /// Handles the processes' reports until all are done.
    ///
    /// - Throws: ``LoadError`` if a process cannot continue.
    func follow() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, child) in children.enumerated() {
                group.addTask { try await self.follow(child, number) }
            }
            // The first error ends all. `waitForAll` would wait for the other processes first.
            for try await _ in group {}
        }
    }

    private func follow(_ child: Child, _ number: Int) async throws {
        for await line in child.lines {
            switch LoadLine(line) {
            case .report(let report)?:
                take(report, number)
                if report.phase == .done { return }
            case .failure(let reason)?: throw LoadError(reason)
            case nil: Output.log(line)
            }
        }
        try Task.checkCancellation()
        throw LoadError("\(child.name) \(await child.ending)")
    }

    private func take(_ report: PartReport, _ number: Int) {
        let isOver = state.withLock { state in
            if number < children.count - 1 { state.board.parts[number] = report } else { state.board.witness = report }
            if state.board.isReady, state.beatWhenReady == nil {
                state.beatWhenReady = .some(state.board.workers.latest)
            }
            return state.board.isOver && report.phase == .done
        }
        if isOver { children.last?.say(Order.stop.line) }
    }

    /// Disconnects all devices, and ends the processes.
    func end() async {
        for child in children {
            child.say(Order.leave.line)
            child.letGo()
        }
        for child in children { await child.stop(patience: .seconds(2)) }
    }
}
