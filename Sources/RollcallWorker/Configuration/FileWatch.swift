// Files that change while a worker runs. Programs replace keys and certificates, often by renaming, and sometimes in two
// steps. So a change counts when the file system reports it and the files have come to rest.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Detects changes of several files that belong together.
struct FileWatch {
    /// How often to look: a change counts at the second look that finds it.
    static let interval = Duration.seconds(1)

    private let paths: [String]
    /// Empty at first: the files may have changed since they were read at the start, and are read again at the first
    /// look.
    private var taken: [Print?] = []
    private var seen: [Print?]

    init(_ paths: [String]) {
        self.paths = paths
        seen = paths.map(Print.init)
    }

    /// Looks at the files.
    ///
    /// - Parameter waiting: whether a change counts only when nothing has changed since the previous look. Certificate
    ///   and key are two files that do not match between the two steps of a renewal.
    /// - Returns: whether the files differ from those last taken. A file that cannot be used yet is reported at each
    ///   look, until ``take()``.
    mutating func hasChanged(waiting: Bool = true) -> Bool {
        let now = paths.map(Print.init)
        defer { seen = now }
        return now != taken && (!waiting || now == seen)
    }

    /// Marks the files as taken in the state of the last look. Call it when they have been read and used.
    mutating func take() {
        taken = seen
    }
}

/// Decides when to log a problem that is found again every second.
struct RepeatedProblem {
    /// How long the log is silent about a problem that it already has.
    static let silence = Duration.seconds(60)

    private var told: (reason: String, at: ContinuousClock.Instant)?

    /// - Returns: whether to log the problem: it is a new one, or was last logged a minute ago.
    mutating func occurred(_ reason: String, at now: ContinuousClock.Instant) -> Bool {
        if let told, told.reason == reason, now - told.at < Self.silence { return false }
        told = (reason, now)
        return true
    }

    mutating func ended() {
        told = nil
    }
}

/// Distinguishes one state of a file from another.
private struct Print: Equatable {
    /// Where the path leads: some systems change files by pointing a link elsewhere.
    private let place: String
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?
    /// A file that could not be read may become readable without being written.
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
