// A real process that a test starts and that never outlives it: beside each child stands a watcher, a shell that
// reads from a pipe of ours and kills the child when that pipe ends, be it because the test run itself was killed.

public import Foundation

/// A running child process whose output is kept.
public final class ChildProcess: @unchecked Sendable {
    private let process = Process()
    private let watcher = Process()
    private var lifeline: Pipe?
    private let lock = NSLock()
    private var outputBytes = Data()
    private var errorBytes = Data()
    private var openPipes = 2

    /// Starts `arguments`, of which the first is the program, looked up in `PATH` unless it has a slash.
    public init(_ arguments: [String], environment: [String: String] = [:], folder: URL? = nil) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        try Self.spawning.withLock(run)
    }

    /// Held from making the pipes to the start of the processes: two children started at once would inherit each
    /// other's pipes, and the end of one's output would come with the end of the other.
    private static let spawning = NSLock()

    private func run() throws {
        let output = Pipe()
        let errors = Pipe()
        let lifeline = Pipe()
        process.standardOutput = output
        process.standardError = errors
        collect(output) { $0.outputBytes.append($1) }
        collect(errors) { $0.errorBytes.append($1) }
        try process.run()

        watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
        watcher.arguments = ["-c", "cat >/dev/null; kill -9 \(process.processIdentifier) 2>/dev/null"]
        watcher.standardInput = lifeline
        self.lifeline = lifeline
        try watcher.run()
    }

    deinit {
        kill()
    }

    public var pid: Int32 { process.processIdentifier }
    public var isRunning: Bool { process.isRunning }
    /// What the child has written to standard output so far.
    public var output: String { lock.withLock { String(decoding: outputBytes, as: UTF8.self) } }
    /// What the child has written to standard error so far.
    public var errors: String { lock.withLock { String(decoding: errorBytes, as: UTF8.self) } }

    /// Whether both streams have been read to their end.
    public var outputEnded: Bool { lock.withLock { openPipes == 0 } }

    public func signal(_ number: Int32) {
        if process.isRunning { Foundation.kill(pid, number) }
    }

    /// Ends the child as a crash would, and its watcher with it.
    public func kill() {
        signal(SIGKILL)
        if watcher.isRunning { Foundation.kill(watcher.processIdentifier, SIGKILL) }
    }

    /// Waits for the child to end.
    ///
    /// - Returns: its exit code, or the signal's number plus 128.
    /// - Throws: ``Timeout`` if it still runs after `limit`.
    @discardableResult
    public func exitCode(within limit: Duration = .seconds(10)) async throws -> Int32 {
        try await eventually("process \(pid) ends", within: limit) { !self.process.isRunning }
        let status = process.terminationStatus
        return process.terminationReason == .exit ? status : status + 128
    }

    /// Reads a pipe to its end on a thread of its own: on Linux a `readabilityHandler` misses the end of some of the
    /// pipes that end at the same time, and `availableData` ends the process when a signal interrupts it.
    private func collect(_ pipe: Pipe, into store: @escaping @Sendable (ChildProcess, Data) -> Void) {
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            var bytes = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let count = read(handle.fileDescriptor, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0, let self else { break }
                lock.withLock { store(self, Data(bytes.prefix(count))) }
            }
            self?.lock.withLock { self?.openPipes -= 1 }
        }
    }
}
