// Loads a configuration: parses all sources, reads the named files, and runs every check, so that all errors are
// reported together.

public import RollcallShards

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
    ) async throws(ConfigurationProblems) -> WorkerConfiguration {
        let (configuration, problems) = await examine(file: file, environment: environment, overrides: overrides)
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        return configuration
    }

    /// Like ``load(file:environment:overrides:)``, but returns the valid part: a key with an error has its default.
    package static func examine(
        file: URL?, environment: [String: String] = ProcessInfo.processInfo.environment, overrides: [String: String]
    ) async -> (configuration: WorkerConfiguration, problems: [ConfigurationProblem]) {
        let sources = ConfigurationSources(file: file, environment: environment, flags: overrides)
        var configuration = WorkerConfiguration()
        var problems = sources.problems(known: settings)
        problems += configuration.read(sources)
        problems += await configuration.readFiles(besides: Set(problems.map(\.key)))
        problems += configuration.problems(besides: Set(problems.map(\.key)))
        return (configuration, problems.map { sources.locating($0) }.inOrderOfKeys())
    }

    private mutating func read(_ sources: ConfigurationSources) -> [ConfigurationProblem] {
        Self.settings.compactMap { setting in
            guard let text = sources.text(of: setting), !setting.read(text, &self) else { return nil }
            return ConfigurationProblem(.malformed, setting.key, value: text, "it must be \(setting.expected)")
        }
    }
}

extension ConfigurationSources {
    /// Adds where the value was set.
    fileprivate func locating(_ problem: ConfigurationProblem) -> ConfigurationProblem {
        guard problem.origin == nil else { return problem }
        var problem = problem
        problem.origin = WorkerConfiguration.settings.first { $0.key == problem.key }.flatMap(origin)
        return problem
    }
}

extension [ConfigurationProblem] {
    /// Sorts errors: the file and unknown names first, then the order of the configuration file.
    fileprivate func inOrderOfKeys() -> [ConfigurationProblem] {
        let keys = WorkerConfiguration.settings.map(\.key)
        return enumerated().sorted { left, right in
            let (first, second) = (
                keys.firstIndex(of: left.element.key) ?? -1, keys.firstIndex(of: right.element.key) ?? -1
            )
            return (first, left.offset) < (second, right.offset)
        }.map(\.element)
    }
}
