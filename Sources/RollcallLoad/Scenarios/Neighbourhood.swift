// Who knows each other: each of a process's devices belongs to two conversations of about ten, one with its neighbours
// and one with devices far apart, and watches twenty random users of all processes.

internal import RollcallModel

/// The conversations of one process's devices.
package struct Neighbourhood: Sendable {
    static let size = 10
    static let watched = 20

    private let plan: Plan

    package init(_ plan: Plan) {
        self.plan = plan
    }

    /// The number of conversations of each kind.
    private var count: Int { (plan.count + Self.size - 1) / Self.size }

    /// All conversations, those of neighbours first, with the numbers of their members over all processes.
    var talks: [(name: String, typists: [Int])] {
        let first = plan.numbers.lowerBound
        let near = (0..<count).map { talk in
            let members = talk * Self.size..<min((talk + 1) * Self.size, plan.count)
            return (name(talk), members.map { first + $0 })
        }
        let far = (0..<count).map { talk in
            (name(count + talk), stride(from: talk, to: plan.count, by: count).map { first + $0 })
        }
        return near + far
    }

    /// The two conversations of a device, as indices into ``talks``.
    func talks(of device: Int) -> [Int] { [device / Self.size, count + device % count] }

    /// A conversation's name, which is unique over all processes.
    private func name(_ talk: Int) -> String { plan.conversation("\(plan.numbers.lowerBound).\(talk)") }

    /// What a device sends after its hello: a `watch`, and `join`s that are acknowledged.
    package func entrance(of device: Int) -> (frames: [UInt8], acknowledgements: Int) {
        var chance = Chance(seed: plan.seed &+ UInt64(plan.numbers.lowerBound + device))
        let watched = (0..<min(Self.watched, plan.devices)).compactMap { _ in
            try? UserID(plan.user(ofAll: Int.random(in: 0..<plan.devices, using: &chance)))
        }
        let rooms = talks(of: device).compactMap { try? ConversationID(name($0)) }
        let joins = rooms.enumerated().flatMap { number, room in
            DeviceFrame.message(.join(room, presence: false), id: .integer(Int64(2 + number)))
        }
        return (DeviceFrame.message(.watch(watched)) + joins, rooms.count)
    }
}
