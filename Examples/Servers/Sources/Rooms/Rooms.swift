// An HTTP server that contains a Rollcall node: `GET /rooms/c42` returns who is online or away, and who is typing.
//
//     $ cd Examples/Servers && ROLLCALL_REDIS_URL=redis://127.0.0.1:6379 PORT=8000 swift run rooms

import Foundation
import Hummingbird
import RollcallNode

@main struct Rooms {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let rollcall = try await RollcallNode(redis: environment["ROLLCALL_REDIS_URL"] ?? "redis://127.0.0.1:6379")
        let greeter = rollcall.client(user: "greeter", device: "rooms")
        greeter.connect()

        let router = Router()
        router.get("rooms/:room") { _, context in
            let conversation = try ConversationID(context.parameters.require("room"))
            let members = try await rollcall.members(of: conversation) ?? [:]
            let presence = try await rollcall.presence(of: members.keys.sorted())
            let typing = try await rollcall.typing(in: conversation)
            return Room(
                here: presence.filter { $0.status != .offline }.map { members[$0.user] ?? $0.user.description },
                typing: typing.users.map { $0.name ?? $0.user.description })
        }
        let port = environment["PORT"].flatMap(Int.init) ?? 8000
        let app = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), services: [rollcall])
        try await app.runService()
    }
}

/// The response: the names of the members who are not offline, and of the users who are typing.
struct Room: ResponseEncodable {
    var here: [String]
    var typing: [String]
}
