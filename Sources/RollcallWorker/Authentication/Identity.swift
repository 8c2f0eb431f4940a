// Who is at the other end of a connection, as far as it has been proven.

public import RollcallModel

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A user on one of their devices.
public struct Identity: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    /// When the proof ends and the session needs a fresh one; `nil` for never. Never later than the year 9999.
    public var expires: Date?
    /// When the proof was given, by which a revocation tells whether it counts; `nil` where none reaches it.
    public var issued: Date?

    public init(user: UserID, device: DeviceID, expires: Date?, issued: Date? = nil) {
        self.user = user
        self.device = device
        self.expires = expires
        self.issued = issued
    }

    static func device(_ offered: DeviceID?) throws(AuthenticationError) -> DeviceID {
        guard let offered else {
            throw AuthenticationError(.noDevice, "the device is missing: neither hello nor the token names one")
        }
        return offered
    }
}
