// Files that change while a worker runs. Keys and certificates are replaced by programs, often by renaming, and now and
// then in two steps; so what counts is what the file system says of a path, and that it has come to rest.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells when one of several files has become another.
struct FileWatch {
    /// How often somebody should look: a change is taken at the second look that finds it.
    static let interval = Duration.seconds(1)

    private let paths: [String]
    /// Nothing at first: what was read before may have changed meanwhile, and is read again at the first look.
    private var taken: [Print?] = []
    private var seen: [Print?]

    init(_ paths: [String]) {
        self.paths = paths
        seen = paths.map(Print.init)
    }

    /// Looks.
    ///
    /// - Parameter waiting: whether a change counts only when nothing has changed since the look before: certificate
    ///   and key are two files, and between the two steps they do not go together.
    /// - Returns: whether the files are others than those last taken; they count as taken from now on.
    mutating func hasChanged(waiting: Bool = true) -> Bool {
        let now = paths.map(Print.init)
        defer { seen = now }
        guard now != taken, !waiting || now == seen else { return false }
        taken = now
        return true
    }
}

/// What tells one state of a file from another.
private struct Print: Equatable {
    /// Where the path leads: some systems change files by pointing a link elsewhere.
    let place: String
    let number: UInt64?
    let size: UInt64?
    let changed: Date?

    /// `nil` if there is no such file.
    init?(_ path: String) {
        place = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else { return nil }
        number = attributes[.systemFileNumber] as? UInt64
        size = attributes[.size] as? UInt64
        changed = attributes[.modificationDate] as? Date
    }
}
