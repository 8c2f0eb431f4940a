// What a look at something came to: in one word, what was found, and what to do about it.

/// One thing that was looked at.
package struct Finding: Codable, Hashable, Sendable {
    /// What to think of it; from the best to the worst.
    package enum Verdict: String, Codable, CaseIterable, Comparable, Sendable {
        case ok
        /// It could not be looked at, such as for want of a right.
        case skipped
        /// It works, and somebody should know.
        case warning
        /// Rollcall does not work there, or not as it promises.
        case failure

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package var check: Check
    package var verdict: Verdict
    /// What there is, as a sentence without its capital and its full stop.
    package var found: String
    /// What to do; absent where nothing is to be done.
    package var advice: String?

    package init(_ check: Check, _ verdict: Verdict, _ found: String, advice: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.found = found
        self.advice = advice
    }
}

/// What a doctor looks at, in the order in which it is told. The names are stable: programs match on them.
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

    /// The name as people read it.
    package var title: String { rawValue.replacing("_", with: " ") }
}
