// Each connection is an open file, and how many a process may have is decided outside of it. A worker takes what it
// may have, and says no to a session rather than run into the wall.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How many files, and so connections, this process may have open.
public enum OpenFileLimit {
    /// What is kept from sessions: listeners, Redis connections, event loops, logs, the admin port's callers.
    static let reserved = 256

    /// The most sessions that one worker takes, whatever the limit: beyond this, memory is the wall.
    static let mostSessions = 1_000_000

    /// How many sessions fit once ``raise()`` was called.
    public static var sessions: Int {
        sessions(files: reachable)
    }

    static func sessions(files: Int) -> Int {
        min(mostSessions, max(1, files - min(reserved, files / 2)))
    }

    /// The highest limit that this process may give itself.
    static var reachable: Int {
        let limit = current
        #if canImport(Darwin)
            // Darwin takes no limit above this one, though it reports the hard limit as infinite.
            let ceiling = rlim_t(OPEN_MAX)
        #else
            let ceiling = rlim_t(Int32.max)
        #endif
        return Int(max(min(limit.rlim_max, ceiling), min(limit.rlim_cur, ceiling)))
    }

    /// Raises the limit of this process as far as it may; the default of most systems, 1024, is for other times.
    ///
    /// - Returns: the limit that holds from now on.
    @discardableResult
    public static func raise() -> Int {
        var limit = current
        limit.rlim_cur = rlim_t(reachable)
        setrlimit(files, &limit)
        return Int(clamping: current.rlim_cur)
    }

    static var current: rlimit {
        var limit = rlimit()
        getrlimit(files, &limit)
        return limit
    }

    #if canImport(Glibc)
        private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let files = RLIMIT_NOFILE
    #endif
}
