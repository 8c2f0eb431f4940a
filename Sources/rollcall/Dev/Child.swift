// A process that `rollcall dev` starts and must stop. It has its own process group, so Ctrl-C in the terminal reaches
// only `dev`, which then stops its parts in order. Its standard input is a pipe that only `dev` holds open. If `dev`
// ends for any reason, the pipe ends, and with it the child or its watcher.

import Foundation
import Spawning
import Synchronization

/// A running child process.
final class Child: Sendable {
    let name: String
    let pid: pid_t
    /// The lines that the child prints, until it ends. For one reader.
    let lines: AsyncStream<String>

    private let lifeline: FileHandle
    private let ended = Eventual<Ending>()
    private let state = Mutex(State())

    private struct State {
        var wasStopped = false
        /// Whether its process id may belong to another process by now.
        var wasReaped = false
    }

    /// How a child ended.
    enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)

        /// Decodes the status from `waitpid`.
        init(status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        }

        var description: String {
            switch self {
            case .exited(let code): "ended with exit code \(code)"
            case .signalled(let number): "was killed by signal \(number)"
            }
        }
    }

    /// Starts a program.
    ///
    /// - Parameter errors: called with the lines of its standard error. By default, these are among ``lines``.
    init(_ name: String, program: URL, arguments: [String], errors: (@Sendable (String) -> Void)? = nil) throws {
        let (input, output, errorOutput) = (Pipe(), Pipe(), Pipe())
        self.name = name
        lifeline = input.fileHandleForWriting
        pid = try Spawn.start(
            program, arguments, input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor,
            errors: (errors == nil ? output : errorOutput).fileHandleForWriting.fileDescriptor)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        try errorOutput.fileHandleForWriting.close()
        lines = Self.lines(of: output)
        if let errors { LineReader.read(errorOutput, line: errors, end: {}) }
        awaitEnd()
    }

    /// Waits until the child has ended.
    var ending: Ending {
        get async { await ended.value }
    }

    /// Whether ``stop(patience:)`` or ``crash()`` was called, so that the end is expected.
    var wasStopped: Bool { state.withLock(\.wasStopped) }

    /// Sends SIGTERM, and SIGKILL after `patience`, and waits until the child has ended. It also completes if the task
    /// is cancelled, since that is when it is needed.
    func stop(patience: DispatchTimeInterval = .seconds(10)) async {
        state.withLock { $0.wasStopped = true }
        signal(SIGTERM)
        let insist = DispatchWorkItem { self.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: insist)
        _ = await ending
        insist.cancel()
    }

    /// Like ``stop(patience:)`` after a pause, unless the task is cancelled during the pause.
    func stop(after pause: Duration) async throws {
        try await Task.sleep(for: pause)
        await stop()
    }

    /// Kills the child with SIGKILL, like a crash, and waits until it has ended.
    func crash() async {
        state.withLock { $0.wasStopped = true }
        signal(SIGKILL)
        _ = await ending
    }

    /// Writes a line to the child's standard input, if the child still reads it.
    func say(_ line: String) {
        try? lifeline.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Closes the child's standard input.
    func letGo() {
        try? lifeline.close()
    }

    private func signal(_ number: Int32) {
        state.withLock { if !$0.wasReaped { kill(pid, number) } }
    }

    private func awaitEnd() {
        Thread.detachNewThread { [self] in
            // The process id stays reserved until the child is reaped. No signal may be sent during or after that,
            // because another process may have the id.
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            var status: Int32 = 0
            state.withLock {
                waitpid(pid, &status, 0)
                $0.wasReaped = true
            }
            ended.settle(Ending(status: status))
        }
    }

    private static func lines(of output: Pipe) -> AsyncStream<String> {
        // If the reader is slow, the oldest lines are dropped. The child must not wait.
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { lines in
            LineReader.read(output, line: { lines.yield($0) }, end: { lines.finish() })
        }
    }
}
