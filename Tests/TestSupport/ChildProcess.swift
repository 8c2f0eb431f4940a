// A child process that never outlives the test run. Each child has a watcher: a shell that reads from a pipe of this
// process and kills the child when the pipe closes, even if the test run was killed.

internal import Foundation
internal import Spawning

/// A running child process whose output is kept.
public final class ChildProcess: @unchecked Sendable {
    public let pid: Int32
    private let watcher: Int32
    private let lifeline = Pipe()
    private let lock = NSLock()
    private var outputBytes = Data()
    private var errorBytes = Data()
    private var openPipes = 2
    /// The exit code, or the signal's number plus 128, once the child has exited.
    private var code: Int32?
    private var watcherEnded = false

    /// Starts `arguments`; the first is the program, looked up in `PATH` unless it contains a slash.
    public init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let output = Pipe()
        let errors = Pipe()
        let nothing = FileHandle.nullDevice.fileDescriptor
        pid = try Spawn.start(
            URL(filePath: "/usr/bin/env"), arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: nothing, output: output.fileHandleForWriting.fileDescriptor,
            errors: errors.fileHandleForWriting.fileDescriptor)
        watcher = try Spawn.start(
            URL(filePath: "/bin/sh"), ["-c", "cat >/dev/null; kill -9 \(pid) 2>/dev/null"],
            input: lifeline.fileHandleForReading.fileDescriptor, output: nothing, errors: nothing)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        collect(output) { $0.outputBytes.append($1) }
        collect(errors) { $0.errorBytes.append($1) }
        reap(pid) { $0.code = $1 }
        reap(watcher) { child, _ in child.watcherEnded = true }
    }

    deinit {
        kill()
    }

    public var isRunning: Bool { lock.withLock { code == nil } }
    /// What the child has written to standard output so far.
    public var output: String { lock.withLock { String(decoding: outputBytes, as: UTF8.self) } }
    /// What the child has written to standard error so far.
    public var errors: String { lock.withLock { String(decoding: errorBytes, as: UTF8.self) } }

    /// Whether both streams have been read to their end.
    public var outputEnded: Bool { lock.withLock { openPipes == 0 } }

    public func signal(_ number: Int32) {
        lock.withLock { if code == nil { _ = Foundation.kill(pid, number) } }
    }

    /// Kills the child as a crash would, and its watcher.
    public func kill() {
        signal(SIGKILL)
        lock.withLock { if !watcherEnded { _ = Foundation.kill(watcher, SIGKILL) } }
    }

    /// Waits for the child to exit.
    ///
    /// - Returns: its exit code, or the signal's number plus 128.
    /// - Throws: ``Timeout`` if it still runs after `limit`.
    @discardableResult
    public func exitCode(within limit: Duration = .seconds(30)) async throws -> Int32 {
        try await eventually("process \(pid) ends", within: limit) { !self.isRunning }
        return lock.withLock { code! }
    }

    private func collect(_ pipe: Pipe, into store: @escaping @Sendable (ChildProcess, Data) -> Void) {
        DescriptorReader.read(
            pipe.fileHandleForReading,
            bytes: { [weak self] bytes in
                guard let self else { return false }
                lock.withLock { store(self, bytes) }
                return true
            },
            end: { [weak self] in self?.lock.withLock { self?.openPipes -= 1 } })
    }

    /// Waits on a separate thread for a process to exit. The process stays a zombie until ``code`` is set under the
    /// lock, so that no signal can reach another process with the same number.
    private func reap(_ pid: Int32, ended: @escaping @Sendable (ChildProcess, Int32) -> Void) {
        Thread.detachNewThread { [weak self] in
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            func collect() -> Int32 {
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                return status & 0x7F == 0 ? (status >> 8) & 0xFF : (status & 0x7F) + 128
            }
            guard let self else { return _ = collect() }
            lock.withLock { ended(self, collect()) }
        }
    }
}
