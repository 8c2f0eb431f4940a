// The proven identity of a connection.

public import RollcallProtocol

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A user on one of their devices.
public struct Identity: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    /// When the proof expires and the session needs a new token; `nil` for never. At most the end of the year 9999.
    public var expires: Date?
    /// When the proof was issued, for comparison with revocations; `nil` if no revocation applies to it.
    public var issued: Date?
    /// Which conversations without members the proof opens; `nil` if it does not say it.
    public var join: JoinRight?

    public init(user: UserID, device: DeviceID, expires: Date?, issued: Date? = nil, join: JoinRight? = nil) {
        self.user = user
        self.device = device
        self.expires = expires
        self.issued = issued
        self.join = join
    }

    package static func device(_ offered: DeviceID?) throws(AuthenticationError) -> DeviceID {
        guard let offered else {
            throw AuthenticationError(.noDevice, "neither hello nor the token names a device")
        }
        return offered
    }
}

// MARK: Who verifies

// How a shard has tokens checked. A server that embeds a node has no tokens, and a worker's are checked elsewhere.

/// Checks tokens.
package protocol TokenVerifier: Sendable {
    /// Returns the user and device of a token, without waiting: if its key is unknown, looks for the key meanwhile.
    ///
    /// - Parameter device: The device that the client named.
    func identity(token: ByteString, device: DeviceID?) throws(AuthenticationError) -> Identity
}
