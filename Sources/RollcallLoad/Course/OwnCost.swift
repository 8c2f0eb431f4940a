// What this process costs itself.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Processor time of this process, user and kernel, since the value was made.
struct OwnCost {
    private let start = Self.now
    private var last: Double?

    /// Stops counting.
    mutating func end() { last = Self.now }

    var seconds: Double { (last ?? Self.now) - start }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
