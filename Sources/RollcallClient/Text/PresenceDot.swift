// The dot beside a user, as a role. The app's design chooses the actual colours.

/// The colour role of a user's presence.
public enum PresenceDot: String, Hashable, Sendable, CaseIterable {
    /// Online.
    case green
    /// Away.
    case amber
    /// Offline.
    case grey
    /// Unknown: no presence was received yet.
    case none

    public init(_ presence: Presence?) {
        switch presence?.status {
        case .online: self = .green
        case .away: self = .amber
        case .offline: self = .grey
        case nil: self = .none
        }
    }

    /// What the colour means, for screen readers; empty if there is no dot.
    public func label(in language: Language = .english) -> String {
        let words = language.words.presence
        return switch self {
        case .green: words.online
        case .amber: words.away
        case .grey: words.offline
        case .none: ""
        }
    }
}
