// The keys for those who offer them: the command line makes flags and its help out of this list.

/// A key of the configuration, as the command line and documents speak of it.
public struct ConfigurationKey: Hashable, Sendable {
    /// Such as `redis.url`; a key of ``WorkerConfiguration/load(file:environment:overrides:)``'s overrides.
    public let name: String
    /// The environment variable that overrides it, such as `ROLLCALL_REDIS_URL`.
    public let variable: String
    /// The default as the configuration file shows it.
    public let defaultText: String
    /// What a right value looks like.
    public let expected: String
}

extension WorkerConfiguration {
    /// Every key, in the order of the configuration file.
    public static var keys: [ConfigurationKey] {
        settings.map {
            ConfigurationKey(
                name: $0.key, variable: $0.variable, defaultText: $0.defaultText, expected: $0.expected)
        }
    }
}
