// The bytes in Redis: what scripted stories leave in each key, and what they publish. `golden.txt` has them as they were
// before the Redis client was written anew. A difference is either a named change of the format, or a mistake.

import Foundation
import RollcallProtocol
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct GoldenTests {
    typealias Story = (name: String, play: @Sendable (StoreUnderTest) async throws -> Void)

    private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "golden.txt")

    static let stories: [Story] = [
        (
            "a device comes, is idle, and another takes over",
            {
                let began = try await $0.write(Session("aa").says(.active, 1)).began
                _ = try await $0.write(Session("aa", began: began).says(.idle, 2))
                _ = try await $0.write(Session("bb", device: tablet, worker: w2).says(.active, 1))
                _ = try await $0.write(Session("cc", worker: w2).says(.active, 1))
            }
        ),
        (
            "a device loses its connection, and goes",
            {
                let session = Session("aa", began: try await $0.write(Session("aa").says(.active, 1)).began)
                _ = try await $0.write(session.says(.active, 2, lost: $0.now()))
                _ = try await $0.write(session.says(nil, 3))
            }
        ),
        (
            "a device is only in the background",
            {
                let began = try await $0.write(Session("aa").says(.background, 1)).began
                _ = try await $0.write(Session("aa", began: began).says(nil, 2))
            }
        ),
        (
            "a device in the background beside one in use",
            {
                _ = try await $0.write(Session("aa").says(.active, 1))
                let began = try await $0.write(Session("bb", device: tablet).says(.background, 1)).began
                _ = try await $0.write(Session("bb", device: tablet, began: began).says(nil, 2))
            }
        ),
        (
            "fields of a later version",
            {
                try await $0.plant("dozing w9.zzzz 1-zz 4 5 0 more words", device: tablet)
                try await $0.command("HSET", "presence:{alice}", "mood", "fine")
                _ = try await $0.write(Session("aa").says(.active, 1))
            }
        ),
        (
            "two devices type, and stop",
            {
                try await $0.setMembers([alice: "Alice \"A\"", bob: ""])
                let end = try await $0.now().advanced(by: .seconds(60))
                try await $0.signal(alice, phone, until: end)
                try await $0.signal(alice, tablet, until: end.advanced(by: .seconds(20)))
                try await $0.signal(bob, phone, until: end)
                try await $0.stop(alice, tablet)
                try await $0.stop(alice, phone)
            }
        ),
        (
            "members are set, named, removed, and end",
            {
                try await $0.signal(alice)
                try await $0.signal(bob)
                try await $0.call { $0.setMember(alice, name: "Alice", of: lounge, reply: $1) }
                try await $0.call { $0.setMember(bob, name: "Bób", of: lounge, reply: $1) }
                try await $0.call { $0.removeMember(alice, of: lounge, reply: $1) }
                try await $0.setMembers([alice: "A"], of: kitchen)
                try await $0.call { $0.deleteMembers(of: kitchen, reply: $1) }
            }
        ),
        (
            "workers hold leases; one dies and is swept, one ends",
            {
                let session = Session("aa")
                _ = try await $0.beat(.begin, w1, lease: .milliseconds(1))
                let _: Bool = try await $0.call { $0.record([session.name], of: w1, until: .never, reply: $1) }
                _ = try await $0.write(session.says(.active, 1))
                _ = try await $0.beat(.begin, w2, lease: .seconds(60), isDraining: true)
                _ = try await $0.claim(limit: 10)
                _ = try await $0.sweep(session.name, of: w1, lastBeat: $0.now())
                _ = try await $0.beat(.end(after: .seconds(20)), w2, lease: .seconds(60))
            }
        ),
        (
            "names that JSON escapes; and a worker is told of a session that was replaced, and of one to send away",
            {
                let strange = user(#"a"b\c-ü😀"#)
                _ = try await $0.write(Session("aa", user: strange, device: device(#"p"/h"#)).says(.active, 1))
                try await $0.signal(strange)
                let notices: [WorkerNotice] = [
                    .replaced(user: strange, device: phone, session: "17-aa"),
                    .sentAway(user: alice, device: phone, session: "17-aa"),
                    .hereEnded(EntryName(ofServersFor: strange, in: lounge), upTo: 17), .erased(strange),
                ]
                for notice in notices {
                    let _: Bool = try await $0.call { $0.announce(notice, to: w1, reply: $1) }
                }
                #expect(try await $0.forget(w1))
            }
        ),
        (
            "a user is revoked, and erased",
            {
                _ = try await $0.write(Session("aa").says(nil, 1))
                let _: Timestamp = try await $0.call { $0.revokeTokens(of: alice, issuedBefore: nil, reply: $1) }
                let report: UserReport = try await $0.call { $0.report(on: alice, own: nil, reply: $1) }
                let _: Bool = try await $0.call { $0.erase(report, reply: $1) }
            }
        ),
    ]

    /// On a node of a cluster, Redis also refuses a script whose keys are in two slots.
    @Test("stories leave the golden values in Redis, and publish the golden messages", arguments: [false, true])
    func golden(onClusterNode: Bool) async throws {
        let store = try await StoreUnderTest(
            options: onClusterNode ? ["--cluster-enabled", "yes", "--cluster-port", "\(try freePort())"] : [])
        if onClusterNode {
            try await store.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            try await eventually("the cluster of one is well") {
                try await store.command("CLUSTER", "INFO").text?.begins(with: "cluster_state:ok") == true
            }
        }
        var lines: [String] = []
        for story in Self.stories {
            try await store.command("FLUSHALL")
            let subscriber = try await RawSubscriber(to: store)
            let start = try await store.now()
            try await story.play(store)
            let published = try await subscriber.heard().map { "publishes \($0)" }
            let stored = try await Self.stored(in: store)
            lines += ["# \(story.name)"] + (published + stored).map { Self.timeless($0, from: start) } + [""]
        }
        let (text, golden) = (lines.joined(separator: "\n"), try String(contentsOf: Self.file, encoding: .utf8))
        if text != golden {
            try? text.write(to: .temporaryDirectory.appending(path: "golden.txt"), atomically: true, encoding: .utf8)
        }
        for (line, expected) in zip(text.split(separator: "\n"), golden.split(separator: "\n")) where line != expected {
            Issue.record("\(line)\ninstead of\n\(expected)")
        }
        #expect(text == golden, "golden.txt in the folder for temporary files has what was found")
    }

    /// Every key with its values and expiry.
    private static func stored(in store: StoreUnderTest) async throws -> [String] {
        try await store.dump().sorted { ($0.value.kind.rawValue, $0.key) < ($1.value.kind.rawValue, $1.key) }.flatMap {
            key, stored in
            let values = stored.content
            let rows =
                stored.kind == .hash || stored.kind == .zset
                ? stride(from: 0, to: values.count, by: 2).map { "\(values[$0]) = \(values[$0 + 1])" } : values
            let expiry = stored.expires.map { " until \($0.milliseconds)" } ?? ""
            return ["\(stored.kind) \(key)\(expiry)"] + rows.sorted().map { "  \($0)" }
        }
    }

    /// Replaces each time by its distance from the start, in steps of 20 s, which a story may take on a busy machine.
    private static func timeless(_ line: String, from start: Timestamp) -> String {
        line.replacing(#/\b\d{13}\b/#) { match in
            let distance = Int64(match.output)! - start.milliseconds
            let steps = distance < -5000 ? distance / 20_000 - 1 : (max(0, distance) + 500) / 20_000
            return abs(distance) > 4_000_000_000
                ? String(match.output) : steps == 0 ? "<now>" : "<now\(steps > 0 ? "+" : "")\(steps * 20)s>"
        }.replacing(#/"expires_in":(\d+)/#) { match in
            "\"expires_in\":\((Int64(match.output.1)! + 5000) / 10_000 * 10_000)"
        }
    }
}
