// The tokens of roaming devices: names for workers that trust everybody, signed tokens that end soon for others.

public import RollcallModel

/// Where roaming devices get their tokens from.
public struct TokenSource: Sendable {
    /// Makes a token that is valid from now on.
    let token: @Sendable (UserID, DeviceID) -> String
    /// How old a token is when the device sends a fresh one over its connection; `nil` if it never does.
    let refreshedAfter: Duration?

    public init(refreshedAfter: Duration?, _ token: @escaping @Sendable (UserID, DeviceID) -> String) {
        (self.refreshedAfter, self.token) = (refreshedAfter, token)
    }

    /// For `auth.mode: insecure`: the token is the user's name.
    public static let names = TokenSource(refreshedAfter: nil) { user, _ in user.text }
}
