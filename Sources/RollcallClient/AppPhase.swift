// The life cycle phases of an app as one type for all platforms.

/// The app's phase, as reported by the platform.
public enum AppPhase: Hashable, Sendable, CaseIterable {
    /// In the foreground.
    case active
    /// Briefly interrupted, for example by the app switcher. Changes nothing.
    case inactive
    /// Not visible. Typing ends at once, and the device no longer counts for presence.
    case background
}
