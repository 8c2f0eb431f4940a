// The wall clock of a child process, which a test can set while the process runs. The monotonic clock does not change,
// as on a host whose clock is set.

internal import Foundation

/// A wall clock that can be set while a child process reads it. Linux only.
public final class SettableClock: @unchecked Sendable {
    #if os(Linux)
        public static let isAvailable = true
    #else
        public static let isAvailable = false
    #endif

    /// The environment to start the process with.
    public let environment: [String: String]
    private let file: URL
    private let lock = NSLock()
    /// The difference to the real clock.
    private var offset = Duration.zero

    public init() throws {
        file = FileManager.default.temporaryDirectory.appending(path: "rollcall-clock-\(UUID().uuidString)")
        environment = ["LD_PRELOAD": try Self.library.get(), "SETTABLE_CLOCK": file.path]
        try Data(count: MemoryLayout<Int64>.size).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: file) }

    /// Sets the clock forward by this much, or back if it is negative.
    public func advance(by step: Duration) throws {
        try lock.withLock {
            offset += step
            let (seconds, attoseconds) = offset.components
            let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            // Written in place: the process has mapped the file.
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: withUnsafeBytes(of: nanoseconds) { Data($0) })
            try handle.close()
        }
    }

    /// `settable_clock.c`, compiled once in each process that uses it.
    private static let library = Result { () throws -> String in
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "settable_clock.c")
        let library = FileManager.default.temporaryDirectory
            .appending(path: "rollcall-clock-\(ProcessInfo.processInfo.processIdentifier).so")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-O2", "-o", library.path, source.path]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw CannotCompile() }
        compiled = library.path
        atexit { if let path = SettableClock.compiled { unlink(path) } }
        return library.path
    }

    private nonisolated(unsafe) static var compiled: String?

    struct CannotCompile: Error, CustomStringConvertible {
        let description = "clang, which comes with Swift, cannot compile settable_clock.c"
    }
}
