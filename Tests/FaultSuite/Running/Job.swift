public import TestSupport

/// One fault with one of the settings, on one kind of Redis: what becomes a row of the table.
public struct Job: Sendable {
    public let fault: Fault
    public let settings: Settings
    public let redis: TestRedis.Kind

    /// - Parameter redis: where the fault is at home, unless another is given.
    public init(_ fault: Fault, _ settings: Settings, on redis: TestRedis.Kind? = nil) {
        (self.fault, self.settings, self.redis) = (fault, settings, redis ?? fault.home)
    }

    public var name: String { "\(settings.name): \(ground)\(fault.group): \(fault.name)" }
    /// By what rows are told apart.
    var key: String { "\(settings.name)/\(ground)\(fault.group)/\(fault.name)" }
    /// What Redis is, where that is not what is usual for the fault.
    private var ground: String { redis == fault.home ? "" : "on \(redis): " }
}
