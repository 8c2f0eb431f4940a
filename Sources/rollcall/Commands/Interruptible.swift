// For commands that start processes, and must stop them when they are interrupted.

import ArgumentParser
import UnixSignals

/// Runs work that Ctrl-C, SIGTERM and the end of the terminal cancel.
enum Interruptible {
    /// Does `work`, or cancels it when interrupted and returns once it has cleaned up.
    ///
    /// - Throws: the exit code for what was missing or failed, which is logged to standard error.
    static func run(as name: String, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work() }
                group.addTask { for await _ in signals { return } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is CancellationError {
            return
        } catch let error as any CustomStringConvertible & Error {
            Output.log("\(name): \(error.description)")
            throw ExitCode.cannotServe
        }
    }
}
