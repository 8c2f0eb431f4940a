// Reads small files named by the configuration, with a size limit and readable errors.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

package enum FileContents {
    /// Far more than any configuration, secret or key set needs.
    ///
    /// Limit: bytes of a file, and of a key set from a URL.
    package static let mostBytes = 1_048_576

    package struct Unreadable: Error, Hashable {
        package let reason: String
    }

    package static func read(_ path: String) throws(Unreadable) -> [UInt8] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Unreadable(reason: "there is no such file")
        }
        if isFolder { throw Unreadable(reason: "this is a folder, not a file") }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: reason(of: path))
        }
        guard contents.count <= mostBytes else {
            throw Unreadable(reason: "the file is larger than \(mostBytes) bytes")
        }
        return Array(contents)
    }
}

extension FileContents {
    /// Foundation does not say why.
    private static func reason(of path: String) -> String {
        guard let file = fopen(path, "r") else {
            return errno == EMFILE || errno == ENFILE
                ? "no file can be opened: the limit of open files is reached" : "this process may not read the file"
        }
        fclose(file)
        return "it could not be read"
    }
}

extension [UInt8] {
    /// The contents of a secret or token file, without surrounding white space.
    package var trimmingWhiteSpace: ArraySlice<UInt8> { trimming([0x20, 0x09, 0x0A, 0x0D]) }

    /// The contents of a password file, without line ends. Spaces may be part of the password.
    package var trimmingLineEnds: ArraySlice<UInt8> { trimming([0x0A, 0x0D]) }

    private func trimming(_ bytes: Set<UInt8>) -> ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !bytes.contains($0) }),
            let last = lastIndex(where: { !bytes.contains($0) })
        else { return [] }
        return self[first...last]
    }
}
