// The sources of values, in order of precedence: flags, the environment, the file. All provide text; each setting
// parses its own.

import Configuration
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ConfigurationSources {
    private let flags: [String: String]
    private let environment: [String: String]
    private let file: ConfigurationFile?
    private let providers: [any ConfigProvider]

    init(file: URL?, environment: [String: String], flags: [String: String]) {
        self.flags = flags
        self.environment = environment
        self.file = file.map(ConfigurationFile.init)
        providers = [
            InMemoryProvider(name: "flags", texts: flags),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "rollcall"),
            InMemoryProvider(name: "file", texts: self.file?.values.mapValues(\.text) ?? [:]),
        ]
    }

    /// The text with the highest precedence, if any source has one.
    func text(of setting: Setting) -> String? {
        let key = AbsoluteConfigKey(ConfigKey(setting.key))
        for provider in providers {
            if case .string(let text)? = try? provider.value(forKey: key, type: .string).value?.content { return text }
        }
        return nil
    }

    /// Where ``text(of:)`` was found.
    func origin(of setting: Setting) -> ConfigurationProblem.Origin? {
        if flags[setting.key] != nil { return .flag }
        if environment[setting.variable] != nil { return .environment(variable: setting.variable) }
        guard let file, let value = file.values[setting.key] else { return nil }
        return .file(name: file.name, line: value.line)
    }

    /// Errors in the sources themselves: an unreadable file and unknown names. Values of unknown names are not shown,
    /// since they may be secrets.
    func problems(known settings: [Setting]) -> [ConfigurationProblem] {
        let keys = settings.map(\.key)
        let variables = settings.map(\.variable)
        let unknownFlags = Set(flags.keys).subtracting(keys).sorted().map {
            unknown($0, .flag, meant: NearestName.of($0, among: keys))
        }
        let unknownVariables = unknownVariables(besides: variables).map {
            unknown($0, .environment(variable: $0), meant: NearestName.of($0, among: variables))
        }
        let unknownInFile = (file?.values ?? [:]).filter { !keys.contains($0.key) }.sorted {
            $0.value.line < $1.value.line
        }
        .map { key, value in
            unknown(
                key, .file(name: file?.name ?? "", line: value.line), meant: NearestName.of(key, among: keys))
        }
        return (file?.problems ?? []) + unknownFlags + unknownVariables + unknownInFile
    }

    private func unknown(
        _ name: String, _ origin: ConfigurationProblem.Origin, meant nearest: String?
    ) -> ConfigurationProblem {
        let hint = nearest.map { "did you mean \($0)?" } ?? "Config/worker.yaml shows all keys"
        return ConfigurationProblem(.unknownKey, name, origin: origin, "there is no such key; \(hint)")
    }
}

extension ConfigurationSources {
    /// Kubernetes sets these variables in containers when a service is named `rollcall`. No key starts with them.
    private static let kubernetes = ["ROLLCALL_SERVICE_", "ROLLCALL_PORT_"]
    /// Variables that are not keys: `ROLLCALL_PORT` comes from Kubernetes, two hold tokens for commands, and the others
    /// are for builds of this package.
    private static let foreign: Set = [
        "ROLLCALL_PORT", "ROLLCALL_TOKEN", "ROLLCALL_OPERATOR_TOKEN", "ROLLCALL_STRICT", "ROLLCALL_FUZZ",
    ]

    private func unknownVariables(besides known: [String]) -> [String] {
        environment.keys.filter { name in
            name.hasPrefix(Setting.variablePrefix) && !known.contains(name) && !Self.foreign.contains(name)
                && !Self.kubernetes.contains { name.hasPrefix($0) }
        }.sorted()
    }
}

extension InMemoryProvider {
    fileprivate init(name: String, texts: [String: String]) {
        let values = texts.map { key, text in
            (AbsoluteConfigKey(ConfigKey(key)), ConfigValue(.string(text), isSecret: true))
        }
        // The library may treat different texts as the same key: `a.b` and `a..b`.
        self.init(name: name, values: Dictionary(values) { first, _ in first })
    }
}
