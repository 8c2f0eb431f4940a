// Runs processes with a wrong wall clock, by preloading libfaketime. The monotonic clock is unaffected, since real
// clocks run at the same speed.

internal import Foundation
internal import TestSupport

enum WrongClock {
    /// libfaketime is not installed.
    struct Missing: Error, CustomStringConvertible {
        let description = "libfaketime is missing: scripts/setup soak installs it"
    }

    /// Returns the environment of a process whose clock is off by this much.
    static func environment(offBy offset: Duration) throws -> [String: String] {
        let folders =
            ["/usr/lib/faketime", "/usr/local/lib/faketime"]
            + ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime" }
        let libraries = folders.map { "\($0)/libfaketime.so.1" }
        guard let library = libraries.first(where: FileManager.default.fileExists(atPath:)) else { throw Missing() }
        let seconds = Int(offset.inSeconds)
        return [
            "LD_PRELOAD": library, "FAKETIME": "\(seconds < 0 ? "" : "+")\(seconds)",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        ]
    }
}
