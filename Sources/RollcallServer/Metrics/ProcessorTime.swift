#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// CPU time used by this process.
package enum ProcessorTime {
    /// POSIX reports it in microseconds; `nil` if the system does not report it.
    package static var used: Duration? {
        let used = clock()
        return used > 0 ? .microseconds(used) : nil
    }
}
