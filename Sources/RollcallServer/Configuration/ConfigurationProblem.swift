// Configuration errors. All errors are reported at once, each with its key and location, and passwords never appear in
// them.

/// One error in a configuration.
public struct ConfigurationProblem: Error, Hashable, Sendable {
    /// Stable codes for programs to match.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no such key.
        ///
        /// Use the suggested name.
        case unknownKey = "unknown_key"
        /// The value cannot be parsed.
        ///
        /// Durations are written `250ms`, `5s`, `2m`, `12h` or `30d`.
        case malformed
        /// The value is not allowed.
        ///
        /// The problem says what is allowed.
        case outOfRange = "out_of_range"
        /// The other settings require this key.
        ///
        /// Most often it is a secret: `scripts/make-secrets` creates one.
        case missing
        /// Two values contradict each other.
        ///
        /// The problem names both, and the reason.
        case inconsistent
        /// A file cannot be read, or has invalid contents.
        ///
        /// Check the permissions. Relative paths start at the working directory, which under systemd is `/`.
        case unusableFile = "unusable_file"
    }

    /// Where a value was set.
    public enum Origin: Hashable, Sendable {
        case flag
        case environment(variable: String)
        case file(name: String, line: Int)
    }

    public var code: Code
    /// The key, such as `redis.url`; `config` for the configuration file itself.
    public var key: String
    /// The given value with secrets masked; `nil` if none was given or it may be a secret.
    public var value: String?
    /// Where the value was set; `nil` for a default.
    public var origin: Origin?
    /// What is wrong and how to fix it, for people to read.
    public var message: String

    package init(_ code: Code, _ key: String, value: String? = nil, origin: Origin? = nil, _ message: String) {
        self.code = code
        self.key = key
        self.value = value
        self.origin = origin
        self.message = message
    }
}

extension ConfigurationProblem: CustomStringConvertible {
    public var description: String {
        let given = value.map { " is \"\($0.escapedForLog)\"" } ?? ""
        let place = origin.map { " (\($0))" } ?? ""
        return "\(key.escapedForLog)\(given)\(place): \(message)"
    }
}

extension ConfigurationProblem.Origin: CustomStringConvertible {
    public var description: String {
        switch self {
        case .flag: "on the command line"
        case .environment(let variable): "in the environment, \(variable.escapedForLog)"
        case .file(let name, let line): "in \(name), line \(line)"
        }
    }
}

/// All errors in a configuration, in the order of the keys.
public struct ConfigurationProblems: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [ConfigurationProblem]

    package init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
