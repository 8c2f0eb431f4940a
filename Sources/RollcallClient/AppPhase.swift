// What platforms call the life of an app, in one type, so that one call takes it.

/// The app's phase, as the platform tells it.
public enum AppPhase: Hashable, Sendable, CaseIterable {
    /// In front of the person.
    case active
    /// A glance at something else, such as the app switcher: changes nothing.
    case inactive
    /// Out of sight.
    case background
}
