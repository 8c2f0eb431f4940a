extension Duration {
    /// The duration for people to read: below a minute in tenths of a second, otherwise in whole minutes, hours or
    /// days, rounded down. A negative duration counts as zero.
    package var spoken: String {
        let milliseconds = max(0, milliseconds)
        return switch milliseconds {
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
        case ..<3_600_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }
}
