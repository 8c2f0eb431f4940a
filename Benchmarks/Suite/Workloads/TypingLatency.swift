/// The latency that users notice: from the write at one device to the complete frame at others, on two servers over one
/// Redis, at 20 signals per second.
struct TypingLatency: TargetedWorkload {
    let people: Int
    let signals: Int
    var name: String { "typing, \(people) people on two servers, 20 signals/s: device to device, p50" }
    let unit = "ms"
    let target = Target.ratio(1.6)

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side, servers: 2)
        return Talk(
            stand: stand, room: try Room(stand, people: people), people: people, signals: signals)
    }

    private struct Talk: Measurable {
        private static let period = 0.05

        let stand: Stand
        let room: Room
        let people: Int
        let signals: Int

        func measure() throws -> Sample {
            var latencies: [Double] = []
            var next = now()
            for signal in 0..<signals {
                // Waiting in the kernel may end up to a millisecond late, so the last millisecond is spent in a busy
                // loop.
                while now() < next { _ = room.listen(milliseconds: Int((next - now()) * 1_000)) }
                next += Self.period
                latencies += try hearing(of: signal % 2 == 0)
            }
            return Sample(
                value: percentile(0.5, of: latencies) * 1_000,
                details: ["p99": percentile(0.99, of: latencies) * 1_000])
        }

        /// Sends a change, and returns its latency for devices on the other server: every second device.
        private func hearing(of isTyping: Bool) throws -> [Double] {
            var latencies: [Double] = []
            let sent = now()
            room.type(isTyping, on: 0)
            while latencies.count < people / 2 {
                for heard in room.listen(milliseconds: 1_000) where heard.device % 2 == 1 {
                    if heard.typing == (isTyping ? 1 : 0) { latencies.append(heard.at - sent) }
                }
                guard now() < sent + 5 else { throw BenchFailure("a signal did not arrive") }
            }
            return latencies
        }
    }
}
