/// Signals at a constant rate through one worker: the cost of each, at low and at high rates.
struct SteadySignals: Workload {
    private static let rooms = 200

    /// Signals per second.
    let rate: Int
    let seconds: Double
    var name: String { "\(rate) signals a second through one worker: CPU each" }
    let unit = "µs"

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        guard side == .rollcall else { return nil }
        let stand = try await Stand(side, servers: 1)
        let typists = try Typing(at: stand.addresses, rooms: Self.rooms)
        return Typists(stand: stand, typists: typists, rate: rate, seconds: seconds)
    }

    private struct Typists: Measurable {
        let stand: Stand
        let typists: Typing
        let rate: Int
        let seconds: Double

        func measure() throws -> Sample {
            let (before, count) = (stand.cost, Int(Double(rate) * seconds))
            try typists.signal(count, aSecond: Double(rate))
            return Sample(value: (stand.cost - before).seconds / Double(count) * 1e6)
        }
    }
}
