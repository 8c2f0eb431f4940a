// Human-readable numbers.

/// Formats amounts.
enum Amount {
    private static let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]

    /// Formats bytes in the largest unit of which there is at least one.
    static func bytes(_ count: Int) -> String {
        var (rest, unit) = (Double(count), 0)
        while rest >= 1024, unit < units.count - 1 {
            rest /= 1024
            unit += 1
        }
        let whole = unit == 0 || rest >= 100 || rest == rest.rounded()
        return "\(whole ? "\(Int(rest.rounded()))" : tenths(rest)) \(units[unit])"
    }

    /// Formats milliseconds, with more digits for small values.
    static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        if abs(milliseconds) >= 10 { return "\(Int(milliseconds.rounded())) ms" }
        return abs(milliseconds) >= 1 ? "\(tenths(milliseconds)) ms" : "\(hundredths(milliseconds)) ms"
    }

    /// `1 key`, `2 keys`.
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
    private static func hundredths(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
}
