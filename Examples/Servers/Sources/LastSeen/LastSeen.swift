// Keeps in a file who is there, and since when the others are not, from the events of a node in this process.
//
//     $ cd Examples/Servers && swift run last-seen people.json redis://127.0.0.1:6379
//
// The place in the stream is stored together with what was read, so it can be ended at any moment and started again.

import Foundation
import RollcallNode

@main struct LastSeen {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let file = URL(filePath: arguments.count > 1 ? arguments[1] : "people.json")
        var configuration = WorkerConfiguration()
        configuration.redis.url = arguments.count > 2 ? arguments[2] : "redis://127.0.0.1:6379"
        configuration.events.enabled = true
        let rollcall = try await RollcallNode(configuration)
        async let running: Void = rollcall.run()

        var people =
            try (try? Data(contentsOf: file)).map { try JSONDecoder().decode(People.self, from: $0) } ?? People()
        for try await event in rollcall.events(after: EventID(people.place) ?? .start) {
            switch event.content {
            case .status(let presence): people.take(presence)
            case .person: break
            case .reset:
                // While Redis is away, again.
                while (try? await people.readAgain(from: rollcall)) == nil { try await Task.sleep(for: .seconds(1)) }
            }
            people.place = "\(event.id)"
            try JSONEncoder().encode(people).write(to: file, options: .atomic)
        }
        try await running
    }
}

struct People: Codable {
    struct Person: Codable {
        var status: String
        var lastSeen: Int64?
        var version: Int64
    }

    var people: [String: Person] = [:]
    var place = ""

    /// Of each user, what has the greatest version counts.
    mutating func take(_ presence: Presence) {
        let user = "\(presence.user)"
        guard presence.version > people[user]?.version ?? -1 else { return }
        people[user] = Person(
            status: "\(presence.status)", lastSeen: presence.lastSeen?.milliseconds, version: presence.version)
    }

    /// After a reset, forgets the versions, and reads what is stored of everybody.
    mutating func readAgain(from rollcall: RollcallNode) async throws {
        for user in people.keys { people[user]?.version = -1 }
        for presence in try await rollcall.storedPresence(of: people.keys.map { try UserID($0) }) { take(presence) }
    }
}
