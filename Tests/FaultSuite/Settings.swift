// The settings with which a fault runs: one set with short times, for many rounds, and the defaults.

/// The configuration of a deployment's workers, as far as promises depend on it.
public struct Settings: Hashable, Sendable {
    public let name: String
    public private(set) var lease: Duration
    public let heartbeat: Duration
    /// The number of rounds of each fault by default.
    public let rounds: Int
    /// The configuration that the workers are started with.
    public private(set) var configuration: [String: String]

    /// The defaults of `presence.grace`, `typing.expiry` and `worker.drain`.
    public let grace = Duration.seconds(5)
    public let expiry = Duration.seconds(3)
    public let drain = Duration.seconds(4)
    /// `edge.ping`; a connection counts as dead after two unanswered pings.
    public private(set) var ping: Duration

    public static let short = Settings(
        name: "short", lease: .seconds(1), heartbeat: .milliseconds(200), rounds: 20,
        configuration: ["worker.lease": "1s", "worker.heartbeat": "200ms", "edge.ping": "1s"], ping: .seconds(1))

    public static let usual = Settings(
        name: "default", lease: .seconds(5), heartbeat: .seconds(1), rounds: 2, configuration: [:], ping: .seconds(10))

    public static let all = [short, usual]

    /// Returns a copy with these values replaced.
    func with(lease: Duration?, ping: Duration?) -> Settings {
        var settings = self
        settings.lease = lease ?? self.lease
        settings.ping = ping ?? self.ping
        for (key, value) in [("worker.lease", lease), ("edge.ping", ping)] {
            if let value { settings.configuration[key] = "\(Int(value.inSeconds * 1000))ms" }
        }
        return settings
    }

    public var description: String {
        let times = "lease \(lease.short), heartbeat \(heartbeat.short)"
        return (self == .usual ? "Default settings: " : "Short times: ") + times
    }
}
