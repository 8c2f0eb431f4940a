// Standard error as a log needs it: each line written with one call, so that the lines of several threads, and of
// several processes on one terminal, do not run into each other.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

enum StandardError {
    /// Writes the text; what cannot be written is lost, since there is nowhere to say so.
    @Sendable static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0 {
                guard errno == EINTR else { return }
            } else {
                rest = rest.dropFirst(written)
            }
        }
    }

    #if canImport(Darwin)
        private static let systemWrite = Darwin.write
    #elseif canImport(Musl)
        private static let systemWrite = Musl.write
    #else
        private static let systemWrite = Glibc.write
    #endif
}
