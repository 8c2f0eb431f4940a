// Formats numbers for `rollcall top`: short, with a dash for unknown values.

import RollcallModel

enum Figure {
    static let unknown = "–"

    static func count(_ number: Int64?) -> String { number.map(String.init) ?? unknown }

    /// Small rates have one decimal place.
    static func rate(_ rate: Double?) -> String {
        guard let rate, rate.isFinite else { return unknown }
        if rate > 0, rate < 9.95 { return tenths(rate) }
        return String(Int64(min(rate, 1e15).rounded()))
    }

    static func percent(_ share: Double?) -> String {
        guard let share, share.isFinite else { return unknown }
        return "\(Int64(min(share * 100, 1e15).rounded())) %"
    }

    static func milliseconds(_ microseconds: Int64?) -> String {
        guard let microseconds else { return unknown }
        let milliseconds = Double(microseconds) / 1000
        return milliseconds < 9.95 ? "\(tenths(milliseconds)) ms" : "\(Int64(milliseconds.rounded())) ms"
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
