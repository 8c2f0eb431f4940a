// Loads a configuration: flags, the environment and the file, the files that these name, and every check, so that all
// errors are reported together.

public import Foundation
public import RollcallServer

extension WorkerConfiguration {
    /// Loads the configuration of a worker and validates it.
    ///
    /// Flags override environment variables, which override the file, which overrides the defaults. The files that the
    /// configuration names (secrets, keys) are read too; their paths are relative to the working directory.
    ///
    /// - Parameters:
    ///   - file: A YAML file like `Config/worker.yaml`.
    ///   - environment: The environment; only variables that begin with `ROLLCALL_` are used.
    ///   - overrides: Texts by key, such as `["redis.url": "redis://10.0.0.7"]`.
    /// - Throws: All errors at once.
    public static func load(
        file: URL? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        overrides: [String: String] = [:]
    ) throws(ConfigurationProblems) -> WorkerConfiguration {
        let (configuration, problems) = examine(file: file, environment: environment, overrides: overrides)
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        return configuration
    }

    /// Like ``load(file:environment:overrides:)``, but returns the valid part: a key with an error has its default.
    package static func examine(
        file: URL?, environment: [String: String] = ProcessInfo.processInfo.environment, overrides: [String: String]
    ) -> (configuration: WorkerConfiguration, problems: [ConfigurationProblem]) {
        let sources = ConfigurationSources(file: file, environment: environment, flags: overrides)
        var configuration = WorkerConfiguration()
        var problems = sources.problems
        for setting in settings {
            guard let text = sources.value(of: setting)?.text, !setting.read(text, &configuration) else { continue }
            problems.append(
                ConfigurationProblem(.malformed, setting.key, value: text, "it must be \(setting.expected)"))
        }
        problems += configuration.readFiles(besides: Set(problems.map(\.key)))
        problems += configuration.problems(besides: Set(problems.map(\.key)))
        return (configuration, sources.located(problems))
    }
}

/// Where values come from. All sources provide text; each setting parses its own.
private struct ConfigurationSources {
    let flags: [String: String]
    let environment: [String: String]
    let file: ConfigurationFile?

    init(file: URL?, environment: [String: String], flags: [String: String]) {
        (self.flags, self.environment) = (flags, environment)
        self.file = file.map(ConfigurationFile.init)
    }

    /// The text with the highest precedence, if any source has one, and where it was found.
    func value(of setting: Setting) -> (text: String, origin: ConfigurationProblem.Origin)? {
        if let text = flags[setting.key] { return (text, .flag) }
        if let text = environment[setting.variable] { return (text, .environment(variable: setting.variable)) }
        guard let file, let value = file.values[setting.key] else { return nil }
        return (value.text, .file(name: file.name, line: value.line))
    }

    /// Adds where the values were set, and sorts: the file and unknown names first, then the order of the configuration
    /// file.
    func located(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
        let places = Dictionary(uniqueKeysWithValues: WorkerConfiguration.settings.enumerated().map { ($1.key, $0) })
        let sorted = problems.enumerated().sorted { left, right in
            (places[left.element.key] ?? -1, left.offset) < (places[right.element.key] ?? -1, right.offset)
        }
        return sorted.map { _, problem in
            var problem = problem
            if problem.origin == nil, let place = places[problem.key] {
                problem.origin = value(of: WorkerConfiguration.settings[place])?.origin
            }
            return problem
        }
    }

    /// Errors in the sources themselves: an unreadable file and unknown names. Values of unknown names are not shown,
    /// since they may be secrets.
    var problems: [ConfigurationProblem] {
        let keys = WorkerConfiguration.settings.map(\.key)
        let variables = WorkerConfiguration.settings.map(\.variable)
        func unknown(
            _ name: String, _ origin: ConfigurationProblem.Origin, among known: [String]
        ) -> ConfigurationProblem {
            let hint = nearest(name, among: known).map { "did you mean \($0)?" } ?? "Config/worker.yaml shows all keys"
            return ConfigurationProblem(.unknownKey, name, origin: origin, "there is no such key; \(hint)")
        }
        let strangeFlags = Set(flags.keys).subtracting(keys).sorted().map { unknown($0, .flag, among: keys) }
        let strangeVariables = environment.keys.filter { Self.isOurs($0) && !variables.contains($0) }.sorted()
            .map { unknown($0, .environment(variable: $0), among: variables) }
        let strangeInFile = (file?.values ?? [:]).filter { !keys.contains($0.key) }
            .sorted { $0.value.line < $1.value.line }
            .map { unknown($0.key, .file(name: file?.name ?? "", line: $0.value.line), among: keys) }
        return (file?.problems ?? []) + strangeFlags + strangeVariables + strangeInFile
    }

    /// Whether a variable should be a key. Kubernetes sets variables in containers when a service is named `rollcall`;
    /// two hold tokens for commands, and three are for builds of this package.
    private static func isOurs(_ variable: String) -> Bool {
        variable.hasPrefix(Setting.variablePrefix)
            && !["ROLLCALL_SERVICE_", "ROLLCALL_PORT_"].contains { variable.hasPrefix($0) }
            && ![
                "ROLLCALL_PORT", "ROLLCALL_TOKEN", "ROLLCALL_OPERATOR_TOKEN", "ROLLCALL_STRICT", "ROLLCALL_FUZZ",
                "ROLLCALL_PROGRAMS",
            ].contains(variable)
    }
}

/// Returns the known name most similar to a mistyped one, if one is similar enough to suggest.
///
/// The beginning or end of a known name counts as one wrong letter, because users omit `_file` and section names more
/// often than they mistype.
func nearest(_ name: String, among known: [String]) -> String? {
    func plain(_ text: String) -> [Character] {
        text.lowercased().map { $0 == "." || $0 == "-" ? "_" : $0 }
    }
    let wanted = plain(name)
    let scored = known.map { candidate -> (name: String, distance: Int) in
        let letters = plain(candidate)
        let isPart = letters.starts(with: wanted) || letters.reversed().starts(with: wanted.reversed())
        return (candidate, isPart && letters != wanted ? 1 : edits(from: wanted, to: letters))
    }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, wanted.count / 3) ? best.name : nil
}

/// The Levenshtein distance: letters inserted, deleted or replaced.
private func edits(from source: [Character], to target: [Character]) -> Int {
    var row = Array(0...target.count)
    for (i, letter) in source.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, other) in target.enumerated() {
            let exchanged = diagonal + (letter == other ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(exchanged, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[target.count]
}
