// Each connection is an open file, and how many a process may have is decided outside of it. A worker takes what it
// may have, and says no to a session rather than run into the wall.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How many files, and so connections, this process may have open.
public enum OpenFileLimit {
    /// What is kept from devices: listeners, logs, keys that are fetched, files that are read for a moment.
    static let reserved = 64

    /// What an event loop has open: itself, and connections to Redis, the worker's own among them.
    static let eachLoop = 6

    /// The most sessions that one worker takes, whatever the limit: beyond this, memory is the wall.
    static let mostSessions = 1_000_000

    /// How many sessions fit once ``raise()`` was called.
    public static var sessions: Int { sessions() }

    static func sessions(files: Int = reachable, loops: Int = System.coreCount) -> Int {
        let handshakes = handshakes(files: files, loops: loops) * loops
        return min(mostSessions, max(1, devices(files: files, loops: loops) - handshakes))
    }

    /// How many connections of each event loop may be no session, so that strangers take no session's place.
    static func handshakes(files: Int = reachable, loops: Int = System.coreCount) -> Int {
        max(1, min(EdgeSettings.mostHandshakes, devices(files: files, loops: loops) / 8 / loops))
    }

    /// What is left for connections of devices, whether they are sessions yet or not.
    private static func devices(files: Int, loops: Int) -> Int {
        files - min(reserved + eachLoop * loops + AdminConnections.most, files / 2)
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
