/// One room in which every signal reaches all users: the processor time of all servers, including Redis, per delivery.
struct FanOut: TargetedWorkload {
    var servers = 1
    let people: Int
    /// How many signals are in flight at a time.
    let outstanding: Int
    let seconds: Double
    var name: String { "fan-out, a room of \(people), \(outstanding) outstanding: CPU a delivery" }
    let unit = "µs"
    var target: Target { .ratio(outstanding == 1 ? 1.2 : 1.3) }

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side, servers: servers, floor: outstanding == 1 ? [] : ["--join"])
        return Hall(
            stand: stand, room: try Room(stand, people: people), people: people, outstanding: outstanding,
            seconds: seconds)
    }

    private struct Hall: Measurable {
        let stand: Stand
        let room: Room
        let people: Int
        let outstanding: Int
        let seconds: Double

        func measure() throws -> Sample {
            _ = try burst(true)
            _ = try burst(false)
            let (before, start) = (stand.cost, now())
            var (deliveries, messages) = (0, 0)
            while now() < start + seconds {
                for isTyping in [true, false] {
                    messages += try burst(isTyping)
                    deliveries += outstanding * (people - 1)
                }
            }
            let (took, cost) = (now() - start, stand.cost - before)
            return Sample(
                value: cost.seconds / Double(deliveries) * 1e6,
                details: [
                    "deliveries a second": Double(deliveries) / took,
                    "messages a delivery": Double(messages) / Double(deliveries),
                    "cores": cost.seconds / took,
                ])
        }

        /// This many users start or stop at once, and all users see all changes.
        ///
        /// - Returns: the number of messages.
        private func burst(_ isTyping: Bool) throws -> Int {
            for typist in 0..<outstanding { room.type(isTyping, on: typist) }
            let deadline = now() + 5
            var (messages, left) = (0, people)
            if outstanding == 1 { left -= 1 }
            var last = [Int](repeating: -1, count: people)
            var frames = [Int](repeating: 0, count: people)
            while left > 0 {
                for heard in room.listen(milliseconds: 1_000) {
                    messages += 1
                    frames[heard.device] += 1
                    guard last[heard.device] != .max, isLast(heard, frames[heard.device], isTyping) else { continue }
                    last[heard.device] = .max
                    left -= 1
                }
                guard now() < deadline else { throw BenchFailure("\(left) of \(people) did not hear of a signal") }
            }
            return messages
        }

        /// Whether a device has now seen all changes. The floor sends each signal separately; Rollcall sends the set of
        /// typing users, in one message or several.
        private func isLast(_ heard: Room.Heard, _ frames: Int, _ isTyping: Bool) -> Bool {
            let others = heard.device < outstanding ? outstanding - 1 : outstanding
            switch stand.side {
            case .floor: return frames == others
            case .rollcall: return heard.typing == (isTyping ? others : 0)
            }
        }
    }
}
