// The processor time of this process.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The processor time of this process since the value was created, user and kernel, in seconds.
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
