// Starts programs. Foundation's `Process` passes on the signal mask of the calling thread, and the threads of Swift's
// executors block all signals: children would not receive SIGTERM.

package import Foundation

/// Starts programs.
package enum Spawn {
    /// Signals that the parent may ignore and that the child needs at their defaults.
    private static let usualSignals = [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM]

    /// Starts a program in its own process group, with no signal blocked, with these standard streams and no other open
    /// file.
    ///
    /// - Returns: The child's process ID. The caller must wait for it.
    /// - Throws: `POSIXError`.
    package static func start(
        _ program: URL, _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment, input: Int32, output: Int32,
        errors: Int32
    ) throws -> pid_t {
        var actions = noFileActions
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (stream, descriptor) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
        }
        for descriptor in try otherDescriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = noAttributes
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setSignals(of: &attributes)

        let environment = environment.map { "\($0)=\($1)" }
        var pid = pid_t()
        let result = withCStrings([program.path] + arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawn(&pid, program.path, &actions, &attributes, arguments, environment)
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EINVAL) }
        return pid
    }

    /// All descriptors that may be open when the child starts. Some are not marked close-on-exec, such as sockets. A
    /// child that inherited another child's standard input would keep it open, and a child that inherited a connection
    /// would keep that open. Other threads may open files meanwhile, and receive the lowest free numbers.
    private static func otherDescriptors() throws -> Range<Int32> {
        #if canImport(Darwin)
            0..<0  // POSIX_SPAWN_CLOEXEC_DEFAULT sees to it.
        #else
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let highest = Int32(clamping: min(rlim_t(max(open.max() ?? 0, STDERR_FILENO)) + 256, limit.rlim_cur))
            return (STDERR_FILENO + 1)..<max(highest, STDERR_FILENO + 1)
        #endif
    }

    #if canImport(Darwin)
        private static var noFileActions: posix_spawn_file_actions_t? { nil }
        private static var noAttributes: posix_spawnattr_t? { nil }
        private typealias Attributes = posix_spawnattr_t?
        private static let flags =
            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
            | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
        private static var noFileActions: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
        private static var noAttributes: posix_spawnattr_t { posix_spawnattr_t() }
        private typealias Attributes = posix_spawnattr_t
        private static let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    #endif

    private static func setSignals(of attributes: inout Attributes) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for signal in usualSignals { sigaddset(&usual, signal) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    /// Converts texts to C strings: an array of pointers that ends with a null pointer.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
