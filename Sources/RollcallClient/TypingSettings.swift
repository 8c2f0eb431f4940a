// The three durations that decide when the user counts as typing. They are validated together, since each limits the
// others.

/// When the user counts as typing.
public struct TypingSettings: Hashable, Sendable {
    /// How long the field must contain text before the first signal, so that a letter that is typed and deleted never
    /// shows.
    public let debounce: Duration
    /// How often the signal is renewed while the user types.
    public let throttle: Duration
    /// How long after the last edit the user still counts as typing.
    public let inactivity: Duration

    /// Debounce 300 ms, throttle 1 s, inactivity 3 s.
    public static let standard = TypingSettings(
        checkedDebounce: .milliseconds(300), throttle: .seconds(1), inactivity: .seconds(3))

    /// Creates settings for workers whose `typing.expiry` is `expiry`. If a worker's expiry is shorter, the client
    /// renews more often than `throttle`.
    ///
    /// - Throws: ``InvalidTypingSettings``, which lists every problem: a negative debounce, a throttle that is not
    ///   positive or longer than `expiry` less one second, or an inactivity that is not longer than the debounce.
    public init(
        debounce: Duration = .milliseconds(300), throttle: Duration = .seconds(1), inactivity: Duration = .seconds(3),
        expiry: Duration = .seconds(3)
    ) throws(InvalidTypingSettings) {
        var problems: [String] = []
        if debounce < .zero { problems.append("debounce is negative") }
        if throttle <= .zero { problems.append("throttle is not positive") }
        if inactivity <= debounce { problems.append("inactivity is not longer than debounce") }
        if throttle > expiry - .seconds(1) {
            problems.append("throttle is longer than expiry less 1 s: a renewal could come too late")
        }
        guard problems.isEmpty else { throw InvalidTypingSettings(problems: problems) }
        self.init(checkedDebounce: debounce, throttle: throttle, inactivity: inactivity)
    }

    private init(checkedDebounce debounce: Duration, throttle: Duration, inactivity: Duration) {
        self.debounce = debounce
        self.throttle = throttle
        self.inactivity = inactivity
    }
}

/// The problems of typing settings.
public struct InvalidTypingSettings: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public var description: String { "invalid typing settings: " + problems.joined(separator: "; ") }
}
