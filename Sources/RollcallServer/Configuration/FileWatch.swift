// Files that change while a worker runs: certificates, tokens and keys. Programs replace them, often by renaming,
// sometimes in two steps. So a change counts only once the files have stopped changing.

import NIOConcurrencyHelpers

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value that follows its files. While they cannot be used, the last good value stays in use.
package final class FollowedFiles<Value: Sendable>: Sendable {
    /// A file, and the setting that names it.
    package typealias File = (key: String, path: String)
    package typealias Parse = @Sendable (_ contents: [[UInt8]]) throws(UnusableFile) -> Value
    /// Called with a new value, or why the files cannot be used. The first look at the files reports too: they usually
    /// still have the contents that the worker has read at its start.
    package typealias Report = @Sendable (_ result: Result<Value, UnusableFile>, _ isFirst: Bool) -> Void

    private struct Progress {
        var watch: FileWatch
        var contents: [[UInt8]]?
        var problem = RepeatedProblem()
        var isFirst = true
    }

    private let files: [File]
    private let parse: Parse
    private let report: Report
    private let current: NIOLockedValueBox<Value>
    private let progress: NIOLockedValueBox<Progress>

    /// - Parameter value: What the files were read as at the start.
    package init(_ files: [File], value: Value, parse: @escaping Parse, report: @escaping Report) {
        (self.files, self.parse, self.report) = (files, parse, report)
        current = NIOLockedValueBox(value)
        progress = NIOLockedValueBox(Progress(watch: FileWatch(files.map(\.path))))
    }

    /// Reads the files.
    package convenience init(
        _ files: [File], parse: @escaping Parse, report: @escaping Report
    ) throws(UnusableFile) {
        self.init(files, value: try parse(try Self.contents(of: files)), parse: parse, report: report)
    }

    /// The last good value.
    package var value: Value { current.withLockedValue { $0 } }

    /// Looks at the files every second, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            look()
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// Reads the files if they have changed, or could not be used the last time: the problem may go away without a
    /// change of the files. It is reported once a minute.
    package func look() {
        progress.withLockedValue { progress in
            guard progress.watch.hasChanged() else { return }
            do throws(UnusableFile) {
                let contents = try Self.contents(of: files)
                if contents != progress.contents {
                    let value = try parse(contents)
                    current.withLockedValue { $0 = value }
                    report(.success(value), progress.isFirst)
                    progress.contents = contents
                }
                progress.watch.take()
                progress.problem.ended()
            } catch {
                if progress.problem.occurred("\(error.key): \(error.reason)", at: .now) {
                    report(.failure(error), progress.isFirst)
                }
            }
            progress.isFirst = false
        }
    }

    private static func contents(of files: [File]) throws(UnusableFile) -> [[UInt8]] {
        try files.map { key, path throws(UnusableFile) in
            do throws(FileContents.Unreadable) {
                return try FileContents.read(path)
            } catch {
                throw UnusableFile(key, error.reason)
            }
        }
    }
}

/// Detects changes of several files that belong together.
package struct FileWatch: Sendable {
    /// The check interval. A change counts at the second check that finds it.
    package static let interval = Duration.seconds(1)

    private let paths: [String]
    /// Empty at first, so the first check reads the files again: they may have changed since startup read them.
    private var taken: [Print?] = []
    private var seen: [Print?]

    package init(_ paths: [String]) {
        self.paths = paths
        seen = paths.map(Print.init)
    }

    /// Checks the files.
    ///
    /// A change counts only if nothing has changed since the previous check: during a renewal, the certificate and key
    /// files may not match for a moment.
    ///
    /// - Returns: Whether the files differ from those last taken. A file that cannot be used yet is reported at each
    ///   check, until ``take()``.
    package mutating func hasChanged() -> Bool {
        let now = paths.map(Print.init)
        defer { seen = now }
        return now != taken && now == seen
    }

    /// Marks the files as taken, in the state of the last check. Call it after they were read and used.
    package mutating func take() {
        taken = seen
    }
}

/// Decides when to log a problem that repeats every second.
package struct RepeatedProblem: Sendable {
    /// The minimum time between two log lines about the same problem.
    static let silence = Duration.seconds(60)

    private var told: (reason: String, at: ContinuousClock.Instant)?

    package init() {}

    /// - Returns: Whether to log the problem: it is new, or was last logged at least a minute ago.
    package mutating func occurred(_ reason: String, at now: ContinuousClock.Instant) -> Bool {
        if let told, told.reason == reason, now - told.at < Self.silence { return false }
        told = (reason, now)
        return true
    }

    package mutating func ended() {
        told = nil
    }
}

/// Identifies one state of a file.
private struct Print: Equatable, Sendable {
    /// The link target: some systems replace files by changing a symbolic link.
    private let place: String
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?
    /// The permissions: an unreadable file may become readable without being written.
    private let mode: UInt?
    private let owners: [UInt?]

    /// `nil` if there is no such file.
    init?(_ path: String) {
        place = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else { return nil }
        number = attributes[.systemFileNumber] as? UInt64
        size = attributes[.size] as? UInt64
        changed = attributes[.modificationDate] as? Date
        mode = attributes[.posixPermissions] as? UInt
        owners = [.ownerAccountID, .groupOwnerAccountID].map { attributes[$0] as? UInt }
    }
}
