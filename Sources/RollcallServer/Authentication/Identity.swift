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
    /// What the proof says besides.
    public var grant: Grant

    public init(user: UserID, device: DeviceID, expires: Date?, issued: Date? = nil, grant: Grant = Grant()) {
        self.user = user
        self.device = device
        self.expires = expires
        self.issued = issued
        self.grant = grant
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
    /// Returns the user and device of a token, without waiting: if no key matches, looks for new ones meanwhile.
    ///
    /// - Parameter device: The device that the client named.
    func identity(token: ByteString, device: DeviceID?, clocks: TokenClocks) throws(AuthenticationError) -> Identity
}

// MARK: The time

/// The time by the clock of this host, and by Redis's as far as it is known. One of them may be wrong, and a token is refused
/// for its time only if both say so: a wrong clock then locks nobody out.
package struct TokenClocks: Hashable, Sendable {
    /// How far this host's clock may be ahead. What passed before that by this clock has passed.
    private static let mostAhead = 3600.0

    private let host: Date
    private let redis: Date

    /// - Parameter redis: The same as `host` before Redis has told its time.
    package init(host: Date, redis: Date) {
        (self.host, self.redis) = (host, redis)
    }

    /// The later of the two: what is in the future by this is in the future by both.
    package var latest: Date { max(host, redis) }

    /// Returns the seconds until the moment has passed by both clocks; at most zero if it has.
    package func seconds(until moment: Date) -> Double {
        min(moment.timeIntervalSince(min(host, redis)), moment.timeIntervalSince(host) + Self.mostAhead)
    }
}
