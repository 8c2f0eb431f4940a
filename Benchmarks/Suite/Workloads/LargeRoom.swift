/// A very large room in which many users type at once, with default settings. Updates that no user can follow should cost little.
struct LargeRoom: TargetedWorkload {
    let people: Int
    let typing: Int
    let seconds: Double
    var name: String {
        "a room of \(people), \(typing) typing at 8 keys a second for \(Int(seconds)) s: CPU of the worker"
    }
    let unit = "% of a core"
    let target = Target.value(25)

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        guard side == .rollcall else { return nil }
        let stand = try await Stand(side, servers: 1, settings: nil)
        return Hall(
            stand: stand, room: try Room(stand, people: people), people: people, typing: typing, seconds: seconds)
    }

    private struct Hall: Measurable {
        private static let keys = 8.0

        let stand: Stand
        let room: Room
        let people: Int
        let typing: Int
        let seconds: Double

        /// All key presses are evenly spread over time, with each user at a different moment.
        func measure() throws -> Sample {
            let (before, start, bytes) = (stand.serverCost, now(), room.bytes)
            var key = 0
            while now() < start + seconds {
                let due = Int((now() - start) * Self.keys * Double(typing))
                while key < due {
                    room.type(true, on: key % typing)
                    key += 1
                }
                _ = room.listen(milliseconds: 1)
            }
            let took = now() - start
            return Sample(
                value: (stand.serverCost - before).seconds / took * 100,
                details: ["KiB a second and socket": Double(room.bytes - bytes) / took / Double(people) / 1_024])
        }
    }
}
