// A process that `rollcall dev` starts and answers for. It stands in a process group of its own, so a Ctrl-C in the
// terminal reaches `dev` alone, which then ends its parts in order. Its standard input is a pipe that only `dev` holds
// open: when `dev` dies, by whatever cause, the pipe ends, and with it the child or its watcher.

import Foundation
import Spawning
import Synchronization

/// A running child process.
final class Child: Sendable {
    let name: String
    let pid: pid_t
    /// What the child prints, line by line, until it ends. For one reader.
    let lines: AsyncStream<String>

    private let lifeline: FileHandle
    private let ended = Eventual<Ending>()
    private let state = Mutex(State())

    private struct State {
        var wasStopped = false
        /// Its process id means nothing any more.
        var wasReaped = false
    }

    /// How a child ended.
    enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)

        /// Reads what `waitpid` said.
        init(status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        }

        var description: String {
            switch self {
            case .exited(let code): "ended with exit code \(code)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// Starts a program.
    ///
    /// - Parameter errors: where the lines of its standard error go; by default they are among ``lines``.
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

    /// Whether ``stop(patience:)`` or ``crash()`` was called: the end was wanted.
    var wasStopped: Bool { state.withLock(\.wasStopped) }

    /// Asks the child to end, insists after `patience`, and waits until it is gone. Goes through under cancellation,
    /// since that is when it is needed.
    func stop(patience: DispatchTimeInterval = .seconds(10)) async {
        state.withLock { $0.wasStopped = true }
        signal(SIGTERM)
        let insist = DispatchWorkItem { self.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: insist)
        _ = await ending
        insist.cancel()
    }

    /// As ``stop(patience:)``, unless cancelled before it is time.
    func stop(after pause: Duration) async throws {
        try await Task.sleep(for: pause)
        await stop()
    }

    /// Ends the child as a crash would, and waits until it is gone.
    func crash() async {
        state.withLock { $0.wasStopped = true }
        signal(SIGKILL)
        _ = await ending
    }

    /// Says something to the child, if it still listens.
    func say(_ line: String) {
        try? lifeline.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Lets go of the child's lifeline: it reads the end of its standard input.
    func letGo() {
        try? lifeline.close()
    }

    private func signal(_ number: Int32) {
        state.withLock { if !$0.wasReaped { kill(pid, number) } }
    }

    private func awaitEnd() {
        Thread.detachNewThread { [self] in
            // Its number stays taken until it is reaped, which no signal may overlap: another process could have it.
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
        // Who does not read loses the oldest lines, rather than making the child wait.
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { lines in
            LineReader.read(output, line: { lines.yield($0) }, end: { lines.finish() })
        }
    }
}
