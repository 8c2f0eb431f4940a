// The dot beside a face, as a role: which green it is, the app's design decides.

/// The colour role of a user's presence.
public enum PresenceDot: String, Hashable, Sendable, CaseIterable {
    /// Online.
    case green
    /// Away.
    case amber
    /// Offline.
    case grey
    /// Unknown: nothing has been heard yet.
    case none

    public init(_ presence: Presence?) {
        switch presence?.status {
        case .online: self = .green
        case .away: self = .amber
        case .offline: self = .grey
        case nil: self = .none
        }
    }
}
