extension Duration {
    /// As a person says how long something took: tenths of a second below a minute, then the largest unit. What is
    /// negative is nothing.
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
