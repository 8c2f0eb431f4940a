// Three dots that swell in turn beside the text. A value of the time, so that whatever draws it keeps no state.

/// The animated dots at one moment.
public struct TypingDots: Hashable, Sendable {
    /// How long each dot's turn lasts.
    public static let turn = Duration.milliseconds(400)
    static let rest = 0.3

    /// Whose turn it is: 0, 1 or 2; `nil` when still.
    public let phase: Int?
    /// The three opacities, 0 to 1.
    public let opacities: [Double]

    /// - Parameters:
    ///   - elapsed: since the dots appeared.
    ///   - reducesMotion: whether the person asked for less motion: the dots are then still.
    public init(after elapsed: Duration, reducesMotion: Bool = false) {
        guard !reducesMotion else {
            phase = nil
            opacities = [1, 1, 1]
            return
        }
        let turns = max(0, elapsed / Self.turn)
        let phase = Int(turns.truncatingRemainder(dividingBy: 3))
        let part = turns.truncatingRemainder(dividingBy: 1)
        let swell = 4 * part * (1 - part)
        self.phase = phase
        opacities = (0..<3).map { $0 == phase ? Self.rest + (1 - Self.rest) * swell : Self.rest }
    }
}
