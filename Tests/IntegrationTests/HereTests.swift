// Who is here, on real workers: over a reload, a crash and a restart, and what servers say.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("Who is here, on real workers", .timeLimit(.minutes(2)))
struct HereTests {
    private let doc: ConversationID = "doc"

    private func enters(_ device: WireDevice, _ data: String? = nil) async throws {
        #expect(try await device.ask(.join(doc, presence: false, here: true)) == nil)
        #expect(try await device.ask(.enter(doc, data: data.flatMap { HereData(stored: ByteString($0)) })) == nil)
    }

    @Test("everybody is told who is here, also over a reload, and until the last device of a user has gone")
    func shown() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let bob = try await there.device("bob", "laptop")
        #expect(try await bob.ask(.join(doc, presence: false, here: true)) == nil)
        #expect(try await bob.here(in: doc)?.count == 0)
        let phone = try await here.device("alice", "phone")
        try await enters(phone, #"{"section":4}"#)
        try await eventually("bob sees alice") { try await bob.here(in: doc)?.users.map(\.user) == ["alice"] }
        let first = try #require(try await bob.here(in: doc)?.users.first)
        #expect(first.data?.text == #"{"section":4}"#)
        let told = try await bob.look().count + bob.messages.count
        let reloaded = try await there.device("alice", "phone")
        try await enters(reloaded)
        try await eventually("the data of the old page has gone") {
            try await bob.here(in: doc)?.users.first?.data == nil
        }
        #expect(try await bob.here(in: doc)?.users.map(\.since) == [first.since])
        #expect(
            bob.messages.dropFirst(max(0, told - 1)).allSatisfy {
                if case .here(let here) = $0 { here.count == 1 } else { true }
            }, "nobody goes over a reload")
        let answer = try await here.ask("GET", "/v1/conversations/doc/here")
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(body.contains(#""count":1"#) && body.contains(#""user":"alice""#))
        try await reloaded.send(.goodbye)
        try await eventually("alice has gone") { try await bob.here(in: doc)?.count == 0 }
        try await eventually("nothing is left") { try await deployment.redis.cli("KEYS", "here:*").isEmpty }
    }

    @Test("a worker that is killed leaves nobody behind")
    func killed() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let bob = try await there.device("bob", "laptop")
        try await enters(bob)
        for user in ["alice", "carol"] { try await enters(here.device(user, "phone")) }
        try await eventually("bob sees all") { try await bob.here(in: doc)?.count == 3 }
        here.crash()
        try await eventually("they have gone", within: .seconds(20)) { try await bob.here(in: doc)?.count == 1 }
        #expect(try await deployment.redis.cli("HKEYS", "here:{doc}").split(separator: "\n") == ["bob"])
    }

    @Test("a server shows somebody as being here as long as it says, at any worker")
    func server() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let bob = try await there.device("bob", "laptop")
        #expect(try await bob.ask(.join(doc, presence: false, here: true)) == nil)
        let path = "/v1/conversations/doc/here/ada"
        #expect(try await here.ask("PUT", path, #"{"data":{"a":1},"for":"60s","name":"Ada"}"#).status == 204)
        try await eventually("ada is here") { try await bob.here(in: doc)?.users.map(\.name) == ["Ada"] }
        #expect(try await there.ask("PUT", path, #"{"for":"2s"}"#).status == 204)
        try await eventually("what was said last counts") { try await bob.here(in: doc)?.users.map(\.name) == [nil] }
        try await eventually("and ends by itself") { try await bob.here(in: doc)?.count == 0 }
        #expect(try await here.ask("PUT", path, #"{"for":"60s"}"#).status == 204)
        try await eventually("ada is here again") { try await bob.here(in: doc)?.count == 1 }
        #expect(try await there.ask("DELETE", path).status == 204)
        try await eventually("ada has gone") { try await bob.here(in: doc)?.count == 0 }
    }

    /// Regression: it ended with the worker that was told; a refused end was never repeated; and erasing the user left it.
    @Test("what a server says outlives its worker, ends although Redis refused that, and ends with an erased user")
    func serverOwner() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let bob = try await there.device("bob", "laptop")
        #expect(try await bob.ask(.join(doc, presence: false, here: true)) == nil)
        func users() async throws -> [String]? { try await bob.here(in: doc)?.users.map(\.user.text) }
        for (user, duration) in [("ada", "300s"), ("bot", "15s")] {
            let body = #"{"for":"\#(duration)","data":{"a":1}}"#
            #expect(try await here.ask("PUT", "/v1/conversations/doc/here/\(user)", body).status == 204)
        }
        try await eventually("both are here") { try await users() == ["ada", "bot"] }
        here.crash()
        try await eventually("the other worker has them", within: .seconds(20)) {
            let lines = try await deployment.redis.cli("HVALS", "here:{doc}")
            return !lines.isEmpty && lines.split(separator: "\n").allSatisfy { $0.contains("\tw2.") || $0.isEmpty }
        }
        try await eventually("one has ended", within: .seconds(20)) { try await users() == ["ada"] }
        #expect(
            try await there.ask("PUT", "/v1/conversations/doc/here/bot", #"{"for":"5s"}"#).status == 204)
        try await deployment.redis.cli("CONFIG", "SET", "min-replicas-to-write", "1")
        try await Task.sleep(for: .seconds(6))
        #expect(try await deployment.redis.cli("HKEYS", "here:{doc}").contains("bot"), "Redis refuses its end")
        try await deployment.redis.cli("CONFIG", "SET", "min-replicas-to-write", "0")
        try await eventually("it ends late") {
            try await !deployment.redis.cli("HKEYS", "here:{doc}").contains("bot")
        }
        try await eventually("and alone") { try await users() == ["ada"] }
        let explained = String(decoding: try await there.ask("GET", "/v1/users/ada").body, as: UTF8.self)
        #expect(explained.contains(#""shown_by_servers":["doc"]"#), "\(explained)")
        try await eventually("all is settled, and ada is erased", within: .seconds(20)) {
            try await there.ask("DELETE", "/v1/users/ada").status == 204
        }
        try await eventually("nobody is left") { try await users() == [] }
    }
}
