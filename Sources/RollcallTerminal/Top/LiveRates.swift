// Rates computed from totals: their growth, divided by the time between the worker's own heartbeats. Between two
// heartbeats the totals and the rates do not change, so the moment and the frequency of requests do not matter.

import RollcallModel

/// Rates per second. Unknown rates are absent.
package struct LiveRates: Hashable, Codable, Sendable {
    package var signals: Double?
    package var published: Double?
    package var delivered: Double?
    /// Processors in use: 0.5 means half of one.
    package var cpu: Double?

    package init(
        signals: Double? = nil, published: Double? = nil, delivered: Double? = nil, cpu: Double? = nil
    ) {
        (self.signals, self.published, self.delivered, self.cpu) = (signals, published, delivered, cpu)
    }

    /// Computes the rates of a worker between two answers; `nil` if there was no heartbeat in between.
    package init?(from earlier: LiveFigures.Worker, to later: LiveFigures.Worker) {
        guard let first = earlier.beat, let last = later.beat, last > first else { return nil }
        let seconds = Double(last.since(first).milliseconds) / 1000
        func rate(_ total: KeyPath<LiveFigures.Totals, Int64?>) -> Double? {
            guard let before = earlier.totals[keyPath: total], let after = later.totals[keyPath: total], after >= before
            else { return nil }
            return (Double(after) - Double(before)) / seconds
        }
        self.init(
            signals: rate(\.signals), published: rate(\.published), delivered: rate(\.delivered),
            cpu: rate(\.cpu).map { $0 / 1000 })
    }

    /// Adds all rates, as far as they are known.
    package init(sum all: some Sequence<LiveRates>) {
        self = all.reduce(into: LiveRates()) { sum, one in
            for rate in [\LiveRates.signals, \.published, \.delivered, \.cpu] {
                guard let more = one[keyPath: rate] else { continue }
                sum[keyPath: rate] = (sum[keyPath: rate] ?? 0) + more
            }
        }
    }
}
