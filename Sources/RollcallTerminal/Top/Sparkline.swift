// A minute in a few cells: a bar for each part of it, the highest as high as the line.

package import RollcallModel

/// What something was over the last minute.
package struct Sparkline: Hashable, Sendable {
    /// How far it goes back.
    package static let span = Duration.seconds(60)
    private static let bars = Array("▁▂▃▄▅▆▇█")

    private struct Point: Hashable {
        var time: Timestamp
        var value: Double
    }

    private var points: [Point] = []

    package init() {}

    /// Notes a value; a moment that does not come after the last is none.
    package mutating func add(_ value: Double, at time: Timestamp) {
        if let last = points.last, time <= last.time { return }
        points.append(Point(time: time, value: value))
        let oldest = time.advanced(by: .zero - Self.span)
        points.removeFirst(points.firstIndex { $0.time > oldest } ?? 0)
    }

    /// The bars, so many, the newest last; blank where nothing is known. Of several values in a bar the highest counts.
    package func text(cells: Int) -> String {
        guard cells > 0, let end = points.last?.time else { return "" }
        var values = [Double?](repeating: nil, count: cells)
        for point in points {
            let age = Double(end.since(point.time).milliseconds) / Double(Self.span.milliseconds)
            let cell = cells - 1 - min(cells - 1, Int(age * Double(cells)))
            values[cell] = max(values[cell] ?? 0, point.value)
        }
        let top = values.compactMap { $0 }.max() ?? 0
        var last: Double?
        // Where there are more bars than values, one stands until the next.
        let filled = values.map { value in
            last = value ?? last
            return last
        }
        return String(filled.map { $0.map { Self.bar($0, of: top) } ?? " " })
    }

    private static func bar(_ value: Double, of top: Double) -> Character {
        guard top > 0 else { return bars[0] }
        return bars[min(bars.count - 1, max(0, Int((value / top * Double(bars.count - 1)).rounded())))]
    }
}
