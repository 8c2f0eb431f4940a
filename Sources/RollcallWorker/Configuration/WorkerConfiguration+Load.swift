// Reading a configuration: sources to texts, texts to values, named files to what they hold, and then every check, so
// that all problems come out together.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WorkerConfiguration {
    /// Reads the configuration of a worker and checks it whole.
    ///
    /// A flag overrides an environment variable, that overrides the file, and that the default. The files that the
    /// configuration names (secrets, keys) are read too; their paths are relative to the working directory.
    ///
    /// - Parameters:
    ///   - file: a YAML file like `Config/worker.yaml`.
    ///   - environment: of which the variables that begin with `ROLLCALL_` count.
    ///   - overrides: texts by key, such as `["redis.url": "redis://10.0.0.7"]`.
    /// - Throws: everything that is wrong, at once.
    public static func load(
        file: URL? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        overrides: [String: String] = [:]
    ) async throws(ConfigurationProblems) -> WorkerConfiguration {
        let (configuration, problems) = await examine(file: file, environment: environment, overrides: overrides)
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        return configuration
    }

    /// As ``load(file:environment:overrides:)``, for those who go on with what is right: a key that is wrong has its
    /// default.
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
    /// The problem with the place where its value was given.
    fileprivate func locating(_ problem: ConfigurationProblem) -> ConfigurationProblem {
        guard problem.origin == nil else { return problem }
        var problem = problem
        problem.origin = WorkerConfiguration.settings.first { $0.key == problem.key }.flatMap(origin)
        return problem
    }
}

extension [ConfigurationProblem] {
    /// Problems of the file itself and unknown names first, then in the order of the configuration file.
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
