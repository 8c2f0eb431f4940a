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
    /// How it ends: `was killed by signal 9`, `ended with exit code 1`. Waiting for it does not end with the task's
    /// cancellation, since that is when it is needed.
    let ending: Task<String, Never>

    private let input: FileHandle
    private let state: Mutex<(wasStopped: Bool, wasReaped: Bool)>

    /// Starts a program.
    ///
    /// - Parameter errors: called with the lines of its standard error. By default, these are among ``lines``.
    init(_ name: String, program: URL, arguments: [String], errors: (@Sendable (String) -> Void)? = nil) throws {
        let (input, output, errorOutput) = (Pipe(), Pipe(), Pipe())
        let pid = try Spawn.start(
            program, arguments, input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor,
            errors: (errors == nil ? output : errorOutput).fileHandleForWriting.fileDescriptor)
        for handle in [input.fileHandleForReading, output.fileHandleForWriting, errorOutput.fileHandleForWriting] {
            try handle.close()
        }
        (self.name, self.pid, self.input) = (name, pid, input.fileHandleForWriting)
        state = Mutex((false, false))
        // If the reader is slow, the oldest lines are dropped. The child must not wait.
        lines = AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { lines in
            Self.read(output, line: { lines.yield($0) }, end: { lines.finish() })
        }
        if let errors { Self.read(errorOutput, line: errors, end: {}) }
        let (statuses, status) = AsyncStream.makeStream(of: Int32.self)
        ending = Task.detached {
            let status = await statuses.first { _ in true } ?? 0
            return status & 0x7F == 0
                ? "ended with exit code \(status >> 8 & 0xFF)" : "was killed by signal \(status & 0x7F)"
        }
        Thread.detachNewThread { [self] in
            // The process id stays reserved until the child is reaped. No signal may be sent during or after that,
            // because another process may have the id.
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            var value: Int32 = 0
            state.withLock {
                waitpid(pid, &value, 0)
                $0.wasReaped = true
            }
            status.yield(value)
            status.finish()
        }
    }

    /// Whether ``stop()`` or ``crash()`` was called, so that the end is expected.
    var wasStopped: Bool { state.withLock { $0.wasStopped } }

    /// Sends SIGTERM, and SIGKILL after ten seconds, and waits until the child has ended.
    func stop() async {
        signal(SIGTERM)
        let insist = DispatchWorkItem { self.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 10, execute: insist)
        _ = await ending.value
        insist.cancel()
    }

    /// Kills the child like a crash, and waits until it has ended.
    func crash() async {
        signal(SIGKILL)
        _ = await ending.value
    }

    private func signal(_ number: Int32) {
        state.withLock {
            $0.wasStopped = true
            if !$0.wasReaped { kill(pid, number) }
        }
    }

    /// Writes a line to the child's standard input, if the child still reads it.
    func say(_ line: String) {
        try? input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Closes the child's standard input.
    func letGo() {
        try? input.close()
    }

    /// Reads a pipe line by line, on a separate thread.
    private static func read(
        _ pipe: Pipe, line: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void
    ) {
        nonisolated(unsafe) var rest = Data()  // used only by the reading thread
        DescriptorReader.read(
            pipe.fileHandleForReading,
            bytes: { bytes in
                rest.append(bytes)
                while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest[..<newline], as: UTF8.self))
                    rest.removeSubrange(...newline)
                }
                return true
            },
            end: end)
    }
}

/// Something that is needed cannot start, or ended although nobody asked for it.
struct PartFailed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The paths of programs.
enum Program {
    /// Returns the program of this name in `PATH`.
    static func find(_ name: String) throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = folders.map { URL(fileURLWithPath: String($0)).appending(path: name) }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw PartFailed("\(name) is not installed: run `make setup`, or install Redis 6.2 or later")
        }
        return program
    }

    /// The running program.
    static var own: URL { Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]) }
}
