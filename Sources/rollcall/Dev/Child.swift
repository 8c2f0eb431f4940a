// A process that `rollcall dev` starts and answers for. It stands in a process group of its own, so a Ctrl-C in the
// terminal reaches `dev` alone, which then ends its parts in order. Its standard input is a pipe that only `dev` holds
// open: when `dev` dies, by whatever cause, the pipe ends, and with it the child or its watcher.

import Foundation
import Synchronization

/// A running child process.
final class Child: Sendable {
    let name: String
    /// What the child prints, line by line, until it ends. For one reader.
    let lines: AsyncStream<String>

    private let process = Process()
    private let lifeline = Pipe()
    private let ended = Eventual<Ending>()
    private let stopped = Mutex(false)

    /// How a child ended.
    enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)

        var description: String {
            switch self {
            case .exited(let code): "ended with exit code \(code)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// Starts a program.
    ///
    /// - Parameter errors: where its standard error goes; by default its lines are among ``lines``.
    init(_ name: String, program: URL, arguments: [String], errors: (@Sendable (String) -> Void)? = nil) throws {
        self.name = name
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = lifeline
        let output = Pipe()
        process.standardOutput = output
        lines = Self.lines(of: output)
        if let errors {
            let pipe = Pipe()
            process.standardError = pipe
            LineReader.read(pipe.fileHandleForReading, line: errors, end: {})
        } else {
            process.standardError = output
        }
        let ended = ended
        process.terminationHandler = { process in
            let status = process.terminationStatus
            ended.settle(process.terminationReason == .exit ? .exited(status) : .signalled(status))
        }
        try process.run()
    }

    var pid: Int32 { process.processIdentifier }

    /// Waits until the child has ended.
    var ending: Ending {
        get async { await ended.value }
    }

    /// Whether ``stop(patience:)`` was called: the end was wanted.
    var wasStopped: Bool { stopped.withLock { $0 } }

    /// Asks the child to end, insists after `patience`, and waits until it is gone. Goes through under cancellation,
    /// since that is when it is needed.
    func stop(patience: DispatchTimeInterval = .seconds(10)) async {
        stopped.withLock { $0 = true }
        signal(SIGTERM)
        let insist = DispatchWorkItem { self.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: insist)
        _ = await ending
        insist.cancel()
    }

    /// Says something to the child, if it still listens.
    func say(_ line: String) {
        try? lifeline.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    private func signal(_ number: Int32) {
        if process.isRunning { kill(pid, number) }
    }

    private static func lines(of output: Pipe) -> AsyncStream<String> {
        // Who does not read loses the oldest lines, rather than making the child wait.
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { lines in
            LineReader.read(output.fileHandleForReading, line: { lines.yield($0) }, end: { lines.finish() })
        }
    }
}

/// Cuts what comes out of a pipe into lines.
private enum LineReader {
    static func read(
        _ handle: FileHandle, line: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void
    ) {
        let rest = Mutex(Data())
        handle.readabilityHandler = { handle in
            let bytes = handle.availableData
            guard !bytes.isEmpty else {
                handle.readabilityHandler = nil
                return end()
            }
            rest.withLock { rest in
                rest.append(bytes)
                while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest[..<newline], as: UTF8.self))
                    rest.removeSubrange(...newline)
                }
            }
        }
    }
}
