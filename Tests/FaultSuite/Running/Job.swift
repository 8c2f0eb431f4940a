/// One fault with one of the settings: what becomes a row of the table.
public struct Job: Sendable {
    public let fault: Fault
    public let settings: Settings

    public init(_ fault: Fault, _ settings: Settings) {
        (self.fault, self.settings) = (fault, settings)
    }

    public var name: String { "\(settings.name): \(fault.group): \(fault.name)" }
    /// By what rows are told apart.
    var key: String { "\(settings.name)/\(fault.group)/\(fault.name)" }
}
