// The last minute in a few cells: one bar for each part of it, scaled to the highest.

package import RollcallModel

/// The values of the last minute.
package struct Sparkline: Hashable, Sendable {
    /// The time that the line covers.
    package static let span = Duration.seconds(60)
    private static let bars = Array("▁▂▃▄▅▆▇█")

    private struct Point: Hashable {
        var time: Timestamp
        var value: Double
        /// Whether values before it are missing.
        var isAfterGap: Bool
    }

    private var points: [Point] = []
    private var isInGap = false

    package init() {}

    /// Adds a value. A second one for the same moment is ignored. If the clock was set back, earlier values are
    /// dropped.
    package mutating func add(_ value: Double, at time: Timestamp) {
        if let last = points.last, time <= last.time {
            guard time < last.time else { return }
            points = []
        }
        points.append(Point(time: time, value: value, isAfterGap: isInGap))
        isInGap = false
        let oldest = time.advanced(by: .zero - Self.span)
        points.removeFirst(points.firstIndex { $0.time > oldest } ?? 0)
    }

    /// Notes that the current value is unknown.
    package mutating func miss() {
        isInGap = true
    }

    /// Returns this many bars, newest last, and spaces where nothing is known. Each bar shows its highest value.
    package func text(cells: Int) -> String {
        guard cells > 0, let end = points.last?.time else { return "" }
        var values = [Double?](repeating: nil, count: cells)
        var before: (cell: Int, value: Double)?
        for point in points {
            let age = Double(end.since(point.time).milliseconds) / Double(Self.span.milliseconds)
            let cell = cells - 1 - min(cells - 1, Int(age * Double(cells)))
            // If there are more bars than values, a value extends to the next one.
            if let before, !point.isAfterGap, before.cell < cell {
                for between in before.cell + 1..<cell { values[between] = before.value }
            }
            values[cell] = max(values[cell] ?? 0, point.value)
            before = (cell, point.value)
        }
        let top = values.compactMap { $0 }.max() ?? 0
        return String(values.map { $0.map { Self.bar($0, of: top) } ?? " " })
    }

    private static func bar(_ value: Double, of top: Double) -> Character {
        guard top > 0 else { return bars[0] }
        return bars[min(bars.count - 1, max(0, Int((value / top * Double(bars.count - 1)).rounded())))]
    }
}
