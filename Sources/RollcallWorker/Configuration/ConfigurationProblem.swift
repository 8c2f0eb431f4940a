// What is wrong with a configuration. An operator who has to fix five things wants to hear of five at once, each with
// its key and where it stands, and never to find a password in the log of the attempt.

/// One thing that is wrong with a configuration.
public struct ConfigurationProblem: Error, Hashable, Sendable {
    /// Stable: programs match on it.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no such key.
        case unknownKey = "unknown_key"
        /// The value cannot be read as what the key asks for.
        case malformed
        /// The value can be read but lies outside of what is allowed.
        case outOfRange = "out_of_range"
        /// Something that is required, given the rest, is not there.
        case missing
        /// Two values do not go together.
        case inconsistent
        /// A file cannot be read, or does not hold what it should.
        case unusableFile = "unusable_file"
    }

    /// Where a value came from.
    public enum Origin: Hashable, Sendable {
        case flag
        case environment(variable: String)
        case file(name: String, line: Int)
    }

    public var code: Code
    /// The key, such as `redis.url`; `config` for the configuration file itself.
    public var key: String
    /// The value as it was given, with secrets masked; `nil` for one not given or one that might be a secret.
    public var value: String?
    /// Where the value was given; `nil` for a default.
    public var origin: Origin?
    /// What is wrong and what would be right, for a person.
    public var message: String

    init(_ code: Code, _ key: String, value: String? = nil, origin: Origin? = nil, _ message: String) {
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

/// All that is wrong with a configuration, in the order of its keys.
public struct ConfigurationProblems: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
