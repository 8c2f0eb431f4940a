// The result of one check: a verdict, what was found, and what to do.

/// The result of one check.
package struct Finding: Codable, Hashable, Sendable {
    /// The verdicts, from best to worst.
    package enum Verdict: String, Codable, CaseIterable, Comparable, Sendable {
        case ok
        /// The check could not run, for example because a right is missing.
        case skipped
        /// It works, but operators should know about it.
        case warning
        /// Rollcall does not work, or not as documented.
        case failure

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package var check: Check
    package var verdict: Verdict
    /// What was found: a sentence without initial capital and full stop.
    package var found: String
    /// What to do; absent if there is nothing to do.
    package var advice: String?

    package init(_ check: Check, _ verdict: Verdict, _ found: String, advice: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.found = found
        self.advice = advice
    }
}

/// The checks, in the order of the report. The names are stable: programs match on them.
package enum Check: String, Codable, CaseIterable, Sendable {
    case configuration
    case authentication
    case edge
    case admin
    case conversations
    case log
    case files
    case redis
    case sentinels
    case cluster
    case version
    case role
    case memory
    case eviction
    case outputBuffers = "output_buffers"
    case connections
    case persistence
    case rights
    case keys
    case foreignKeys = "foreign_keys"
    case databases
    case latency
    case slowCommands = "slow_commands"
    case clock
    case workers
    case versions
    case openFiles = "open_files"
    case ports
    case kernel

    /// The name for people to read.
    package var title: String { rawValue.replacing("_", with: " ") }
}
