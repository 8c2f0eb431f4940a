// The three times that shape one's own typing, checked together since each limits the others.

/// When a person counts as typing.
public struct TypingSettings: Hashable, Sendable {
    /// How long the field must have held text before the first signal, so that a letter typed and deleted never shows.
    public let debounce: Duration
    /// How often the signal is renewed while the person types.
    public let throttle: Duration
    /// How long after the last edit the person still counts as typing.
    public let inactivity: Duration

    /// Debounce 300 ms, throttle 1 s, inactivity 3 s.
    public static let standard = TypingSettings(
        checkedDebounce: .milliseconds(300), throttle: .seconds(1), inactivity: .seconds(3))

    /// Settings for workers whose `typing.expiry` is `expiry`. Where a worker's turns out shorter, the client renews sooner
    /// than `throttle`.
    ///
    /// - Throws: ``InvalidTypingSettings`` with every problem at once.
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

/// What is wrong with typing settings, all of it.
public struct InvalidTypingSettings: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public var description: String { "invalid typing settings: " + problems.joined(separator: "; ") }
}
