#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The load itself could not continue, so its measurements are invalid.
package struct LoadError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// - Parameter what: what the system refused, as in “could not …”.
    static func system(_ what: String) -> LoadError {
        LoadError("could not \(what): \(String(cString: strerror(errno)))")
    }
}
