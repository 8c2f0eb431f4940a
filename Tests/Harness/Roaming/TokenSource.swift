// The tokens of simulated devices: user names for workers in insecure mode, short-lived signed tokens for others.

public import RollcallProtocol

/// Creates the tokens of simulated devices.
public struct TokenSource: Sendable {
    /// Creates a token that is valid from now on.
    let token: @Sendable (UserID, DeviceID) -> String
    /// The age of a token at which the device sends a new one over its connection; `nil` if it never does.
    let refreshedAfter: Duration?

    public init(refreshedAfter: Duration?, _ token: @escaping @Sendable (UserID, DeviceID) -> String) {
        (self.refreshedAfter, self.token) = (refreshedAfter, token)
    }

    /// For `auth.mode: insecure`: the token is the user's name.
    public static let names = TokenSource(refreshedAfter: nil) { user, _ in user.text }
}
