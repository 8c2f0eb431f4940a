// The list of configuration keys, from which the command line builds its flags and help.

public import RollcallShards

/// A configuration key, as shown on the command line and in documents.
public struct ConfigurationKey: Hashable, Sendable {
    /// The name, such as `redis.url`, as in the overrides of ``WorkerConfiguration/load(file:environment:overrides:)``.
    public let name: String
    /// The environment variable for the key, such as `ROLLCALL_REDIS_URL`.
    public let variable: String
    /// The default, as the configuration file shows it.
    public let defaultText: String
    /// A description of valid values.
    public let expected: String
}

extension WorkerConfiguration {
    /// All keys, in the order of the configuration file.
    public static var keys: [ConfigurationKey] {
        settings.map {
            ConfigurationKey(
                name: $0.key, variable: $0.variable, defaultText: $0.defaultText, expected: $0.expected)
        }
    }
}
