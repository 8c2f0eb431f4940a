// How the cost of one thing grows with the number of things. If it does not, the figures in all columns are equal.

/// Measurements of one cost at several sizes.
struct Growth {
    /// What is increased.
    let of: String
    /// What is measured.
    let what: String
    let steps: [(size: Int, workload: any Workload)]

    /// - Parameters:
    ///   - size: scales a default size.
    ///   - seconds: scales a default duration.
    static func all(_ size: (Int) -> Int, _ seconds: (Double) -> Double) -> [Growth] {
        let (short, long) = (seconds(2), seconds(10))
        func growth(
            _ of: String, _ what: String, _ sizes: [Int], _ workload: (Int) -> any Workload
        ) -> Growth {
            Growth(of: of, what: what, steps: sizes.map { ($0, workload($0)) })
        }
        let crowds = [1_500, 5_000, 15_000].map(size)
        return [
            growth("idle devices", "memory each", crowds) { IdleMemory(devices: $0) },
            growth("idle devices", "processor time of the worker", crowds) {
                IdleProcessor(devices: $0, seconds: long)
            },
            growth("devices that connect at once", "CPU of the worker, each", crowds) { ConnectStorm(devices: $0) },
            growth("people in a room", "CPU a delivery", [10, size(100), size(1_000)]) {
                FanOut(people: $0, outstanding: 1, seconds: short)
            },
            growth("workers, two of a room's people on each", "CPU a delivery", [1, 2, 4, 8]) {
                FanOut(servers: $0, people: 2 * $0, outstanding: 1, seconds: short)
            },
            growth("rooms in which somebody types", "time a signal", [20, 200, 2_000].map(size)) {
                Signals(rooms: $0, count: size(50_000))
            },
            growth("signals a second", "CPU a signal", [200, 1_000, 5_000].map(size)) {
                SteadySignals(rate: $0, seconds: long)
            },
        ]
    }
}

/// The results at all sizes.
struct GrowthRow: Encodable {
    struct Step: Encodable {
        let size: Int
        let samples: [Sample]
    }

    let of: String
    let what: String
    let unit: String
    var steps: [Step] = []

    /// The row of a Markdown table.
    var line: String {
        let figures = steps.map { "\(Row.text(median($0.samples.map(\.value)))) (\($0.size))" }
        return "| \(of) | \(what), \(unit) | \(figures.joined(separator: " · ")) |"
    }

    static let head = """
        | growing number of | measured | value (at this number) |
        |---|---|---|
        """
}
