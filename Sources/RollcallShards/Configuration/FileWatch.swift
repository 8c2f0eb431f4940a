// Detects changed files while a worker runs. Programs replace keys and certificates, often by renaming, sometimes in
// two steps. So a change counts only once the files have stopped changing.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    /// - Parameter waiting: Whether a change counts only if nothing has changed since the previous check. During a
    ///   renewal, the certificate and key files may not match for a moment.
    /// - Returns: Whether the files differ from those last taken. A file that cannot be used yet is reported at each
    ///   check, until ``take()``.
    package mutating func hasChanged(waiting: Bool = true) -> Bool {
        let now = paths.map(Print.init)
        defer { seen = now }
        return now != taken && (!waiting || now == seen)
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
