// Reads small files named by the configuration, with a size limit and readable errors.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum FileContents {
    /// Far more than any configuration, secret or key set needs.
    static let mostBytes = 1_048_576

    struct Unreadable: Error, Hashable {
        let reason: String
    }

    static func read(_ path: String) throws(Unreadable) -> [UInt8] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Unreadable(reason: "there is no such file")
        }
        if isFolder { throw Unreadable(reason: "this is a folder, not a file") }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: "this process may not read the file")
        }
        guard contents.count <= mostBytes else {
            throw Unreadable(reason: "the file is larger than \(mostBytes) bytes")
        }
        return Array(contents)
    }
}
