// What Rollcall uses of CoreGraphics, from its documentation.

public struct CGEventType: RawRepresentable, Sendable {
    public var rawValue: UInt32
    public init?(rawValue: UInt32) { self.rawValue = rawValue }
    public static let null = CGEventType(rawValue: 0)!
}

public enum CGEventSourceStateID: Sendable { case combinedSessionState }

public enum CGEventSource {
    public static func secondsSinceLastEventType(_ state: CGEventSourceStateID, eventType: CGEventType) -> Double { 0 }
}
