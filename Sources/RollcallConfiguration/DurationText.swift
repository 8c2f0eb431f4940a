// Durations as text: a whole number and a unit (`250ms`, `5s`, `2m`, `12h`, `30d`), or `0`.

import RollcallModel

package enum DurationText {
    /// The units in milliseconds, largest first.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Enough for any real duration, and few enough that no unit overflows.
    private static let mostDigits = 9

    package static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text[digits.endIndex...]
        guard digits.count <= mostDigits, let count = Int64(digits),
            let unit = units.first(where: { $0.name == name })
        else { return nil }
        return .milliseconds(count * unit.milliseconds)
    }

    /// The duration in the largest unit that represents it exactly, in whole milliseconds.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds != 0, let unit = units.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "0"
        }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
