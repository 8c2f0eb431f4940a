// A script as single acts in time, ready to be played.

/// One act of a script.
package struct Act: Hashable, Sendable {
    package enum Deed: Hashable, Sendable {
        case press(Key)
        case background
        case foreground
        case idle
        case leave
        case enter
        /// Only time passes.
        case nothing
    }

    /// How long after the previous act this one happens.
    package let pause: Duration
    package let deed: Deed

    package init(after pause: Duration = .zero, _ deed: Deed) {
        self.pause = pause
        self.deed = deed
    }
}

extension Script {
    /// The time between two letters: quick typing, but without haste.
    package static let usualPace = Duration.milliseconds(120)

    /// The acts of one round.
    package var acts: [Act] {
        var pace = Self.usualPace
        return steps.flatMap { step -> [Act] in
            switch step {
            case .type(let text): return text.map { Act(after: pace, .press(.text(String($0)))) }
            case .paste(let text): return [Act(.press(.paste(text)))]
            case .erase(let count?):
                return Array(repeating: Act(after: pace, .press(.backspace)), count: min(count, LineEditor.capacity))
            case .erase(nil): return [Act(.press(.clear))]
            case .send: return [Act(.press(.enter))]
            case .wait(let time): return [Act(after: time, .nothing)]
            case .pace(let time):
                pace = time
                return []
            case .background: return [Act(.background)]
            case .foreground: return [Act(.foreground)]
            case .idle: return [Act(.idle)]
            case .leave: return [Act(.leave)]
            case .enter: return [Act(.enter)]
            }
        }
    }
}
