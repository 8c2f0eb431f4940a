// The open-file limit. Each connection is an open file, and the operating system limits these. A worker raises its
// limit as far as allowed, and refuses sessions before it runs out.

import NIOCore

#if canImport(Darwin)
    package import Darwin
#elseif canImport(Musl)
    package import Musl
#else
    package import Glibc
#endif

/// How many files, and therefore connections, this process may open.
package enum OpenFileLimit {
    /// Reserved for other files: listeners, logs, key fetches, files read briefly. Where few can be open, an eighth.
    static func reserved(files: Int) -> Int { min(64, files / 8) }

    /// Files per event loop: the loop itself and its connections to Redis, including the worker's own.
    static let eachLoop = 6

    /// The most connections that the admin port has open at once.
    ///
    /// Limit: connections of the admin port. The one that has been idle longest gives way. Where none is idle, 16 more
    /// answer `/health`, `/ready` and `/metrics`, and other requests get 503.
    package static let adminConnections = 128
    /// Where few files can be open, an eighth of them.
    package static func adminConnections(files: Int = reachable) -> Int { max(1, min(adminConnections, files / 8)) }
    /// The places beyond those, so that probes have an answer.
    package static let adminSpare = 16

    /// The most connections of an event loop that are no session, whatever the limit.
    ///
    /// Limit: connections without a session on an event loop, and at most an eighth of the open files: handshakes,
    /// WebSockets before their token is accepted, and closing ones. Above it, the address with the most of them
    /// loses its oldest.
    package static let mostHandshakes = 4096

    /// The most sessions per worker, whatever the file limit: beyond this, memory is the limit.
    ///
    /// Limit: sessions of a worker.
    package static let mostSessions = 1_000_000

    /// How many sessions fit after ``raise()``.
    package static var sessions: Int { sessions() }

    /// The event loops of a worker by default.
    package static var loops: Int { min(WorkerConfiguration.Worker.mostLoopsByDefault, max(1, System.coreCount)) }

    package static func sessions(files: Int = reachable, loops: Int = OpenFileLimit.loops) -> Int {
        let handshakes = handshakes(files: files, loops: loops) * loops
        return min(mostSessions, max(1, devices(files: files, loops: loops) - handshakes))
    }

    /// How many connections per event loop may be in the handshake. They are reserved separately, so that handshakes
    /// cannot take the place of sessions.
    package static func handshakes(files: Int = reachable, loops: Int = OpenFileLimit.loops) -> Int {
        max(1, min(mostHandshakes, devices(files: files, loops: loops) / 8 / loops))
    }

    /// The files left for device connections, sessions and handshakes together.
    private static func devices(files: Int, loops: Int) -> Int {
        let others = eachLoop * loops + adminConnections(files: files) + min(adminSpare, files / 8)
        return max(1, files - reserved(files: files) - others)
    }

    /// The highest limit that this process may set.
    package static var reachable: Int {
        let limit = current
        #if canImport(Darwin)
            // Darwin rejects limits above this one, although it reports the hard limit as infinite.
            let ceiling = rlim_t(OPEN_MAX)
        #else
            let ceiling = rlim_t(Int32.max)
        #endif
        return Int(max(min(limit.rlim_max, ceiling), min(limit.rlim_cur, ceiling)))
    }

    /// Raises the process's limit as far as allowed. The default of most systems, 1024, is too low for a server.
    ///
    /// - Returns: The new limit.
    @discardableResult
    package static func raise() -> Int {
        var limit = current
        limit.rlim_cur = rlim_t(reachable)
        setrlimit(files, &limit)
        return Int(clamping: current.rlim_cur)
    }

    package static var current: rlimit {
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
