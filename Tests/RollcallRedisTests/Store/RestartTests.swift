// What a Redis still holds after a restart, with the users that we ship and print.

import Foundation
import RollcallProtocol
import RollcallRedis
import TestSupport
import Testing

/// An ACL file as an operator has it.
enum PrintedUsers: CaseIterable {
    /// That of docker-compose.yml.
    case compose
    /// That of docs/redis.md.
    case docs

    private static let top = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: top.appending(path: path), encoding: .utf8)
    }

    /// The lines of the file, and the name and password of a user who may run every command.
    func lines() throws -> (lines: String, name: String, password: String) {
        let rollcall = try Self.text("Config/redis.acl").trimmingCharacters(in: .newlines)
        switch self {
        case .compose:
            let compose = try Self.text("docker-compose.yml")
            let format = try #require(compose.firstMatch(of: #/printf '(user default[^']*)'/#)?.1)
            let words = ["admin", rollcall, "a-password", ""]
            let lines = zip(format.components(separatedBy: "%s"), words).map { $0 + $1 }.joined()
            return (lines.replacing("\\n", with: "\n"), "default", "admin")
        case .docs:
            let block = try #require(try Self.text("docs/redis.md").firstMatch(of: #/```\n(user default[^`]*)```/#)?.1)
            let lines = block.split(separator: "\n").map {
                $0.hasPrefix("user rollcall ") ? rollcall + " >a-password\n" : $0 + "\n"
            }
            return (lines.joined(), "operator", "another-password")
        }
    }
}

@Suite(.serialized, .timeLimit(.minutes(1))) struct RestartTests {
    /// Regression: with `user default off` alone, Redis dropped what scripts had written when it loaded its append-only file:
    /// members, presence and events.
    @Test(
        "a restarted Redis holds every key, from its append-only file and from a snapshot, with the users of our files and pages",
        arguments: PrintedUsers.allCases, [["--appendonly", "yes"], ["--save", "3600 1"]])
    func restart(users: PrintedUsers, options: [String]) async throws {
        let (lines, name, password) = try users.lines()
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-users-\(UUID().uuidString)")
        try Data(lines.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let store = try await StoreUnderTest(aclFile: file, operator: name, password, options: options)
        for story in GoldenTests.stories { try await story.play(store) }
        // What these end with lacks some kinds of keys.
        let session = Session("zz", user: bob)
        _ = try await store.write(session.says(.active, 1))
        let _: HereWritten = try await store.call { $0.write(session.here(1), reply: $1) }
        let before = try await store.dump()
        #expect(before.count >= 12, "\(before.keys.sorted())")
        _ = try? await store.command("SHUTDOWN")
        try await store.redis.restart()
        try await eventually("Redis answers") { await (try? store.command("PING")) != nil }
        let after = try await store.dump()
        // On a busy machine a restart takes longer than a claim to sweep or typing lasts.
        let read = try await store.now()
        let kept = before.filter { $0.value.expires.map { $0 > read } ?? true }
        #expect(kept.count >= 10, "\(kept.keys.sorted())")
        #expect(Set(kept.keys).isSubset(of: after.keys) && Set(after.keys).isSubset(of: before.keys))
        // Only the content: a file may have the moment at which a key expires a millisecond later.
        for (key, stored) in kept { #expect(after[key]?.content == stored.content, "\(key)") }
    }
}
