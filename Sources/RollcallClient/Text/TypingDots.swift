// Three dots beside the text that brighten in turn. Their state depends only on the time, so a view keeps no state.

/// The animated dots at one moment.
public struct TypingDots: Hashable, Sendable {
    /// How long one dot's turn lasts.
    public static let turn = Duration.milliseconds(400)
    static let rest = 0.3

    /// Whose turn it is: 0, 1 or 2; `nil` if the dots do not move.
    public let phase: Int?
    /// The opacities of the three dots, 0 to 1.
    public let opacities: [Double]

    /// - Parameters:
    ///   - elapsed: the time since the dots appeared.
    ///   - reducesMotion: whether the user prefers reduced motion. The dots then do not move.
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
