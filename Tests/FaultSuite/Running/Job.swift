public import TestSupport

/// One fault with one set of settings on one kind of Redis deployment: one row of the table.
public struct Job: Sendable {
    public let fault: Fault
    public let settings: Settings
    public let redis: TestRedis.Kind

    /// - Parameter redis: the kind of deployment; `nil` for the fault's default.
    public init(_ fault: Fault, _ settings: Settings, on redis: TestRedis.Kind? = nil) {
        (self.fault, self.settings, self.redis) = (fault, settings, redis ?? fault.home)
    }

    public var name: String { "\(settings.name): \(ground)\(fault.group): \(fault.name)" }
    /// Identifies the row.
    var key: String { "\(settings.name)/\(ground)\(fault.group)/\(fault.name)" }
    /// The kind of deployment, if it is not the fault's default.
    private var ground: String { redis == fault.home ? "" : "on \(redis): " }
}
