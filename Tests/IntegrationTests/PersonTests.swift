// What people decide that others see, on two real workers and a real Redis.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2))) struct PersonTests {
    private func sees(_ user: UserID, _ status: PresenceStatus, on device: WireDevice) async throws {
        try await eventually("\(user) is \(status)") {
            try await device.look()
            return device.messages.newest(user)?.status == status
        }
    }

    @Test("a device hides its user and says what it is doing, on all workers, and each of the user's devices is told")
    func own() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let phone = try await here.device("alice", "phone")
        let laptop = try await there.device("alice", "laptop")
        let bob = try await there.device("bob", "phone")
        #expect(try await bob.ask(.watch(["alice"])) == nil)
        try await sees("alice", .online, on: bob)
        #expect(try await phone.ask(.person(PersonPatch([.availability: "busy"], lasting: 60_000))) == nil)
        try await eventually("she is busy") {
            try await bob.look()
            return bob.messages.newest("alice")?.words?.availability == .busy
        }
        #expect(bob.messages.newest("alice")?.words?.until != nil)
        for device in [phone, laptop] {
            try await eventually("her devices know") {
                try await device.look()
                return device.messages.contains {
                    if case .person(let person) = $0 { person.availability == .busy } else { false }
                }
            }
        }
        #expect(try await laptop.ask(.person(PersonPatch([.availability: "invisible", .until: nil]))) == nil)
        try await sees("alice", .offline, on: bob)
        // Whoever comes anew sees nothing else, and a device that comes back is told.
        let carol = try await here.device("carol", "phone")
        #expect(try await carol.ask(.watch(["alice"])) == nil)
        try await sees("alice", .offline, on: carol)
        #expect(carol.messages.newest("alice")?.version == 0)
        #expect(
            try await phone.ask(.person(PersonPatch([.text: "Hi"])))?.code == .badRequest, "person.self is settings")
        #expect(try await phone.ask(.person(PersonPatch(lasting: 400 * 86_400_000)))?.code == .badRequest)
        #expect(try await phone.ask(.person(PersonPatch([.availability: nil]))) == nil)
        for device in [bob, carol] { try await sees("alice", .online, on: device) }
    }

    @Test("an app's server blocks, sets and reads, and what Redis has lost comes back")
    func server() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let alice = try await here.device("alice", "phone")
        let bob = try await there.device("bob", "phone")
        #expect(try await alice.ask(.watch(["bob"])) == nil)
        #expect(try await bob.ask(.watch(["alice"])) == nil)
        try await sees("bob", .online, on: alice)
        try await sees("alice", .online, on: bob)
        #expect(try await there.ask("PUT", "/v1/users/alice/blocked/bob").status == 204)
        try await sees("alice", .offline, on: bob)
        try await sees("bob", .offline, on: alice)
        let set = try await there.ask(
            "PATCH", "/v1/users/alice/person", #"{"last_seen":"nobody","text":" In \n class "}"#)
        let told = String(decoding: set.body, as: UTF8.self)
        #expect(set.status == 200 && told.contains(#""text":"In  class""#) && told.contains(#""blocked":{"bob":"#))
        #expect(try await here.ask("GET", "/v1/users/alice/person").body == set.body)
        // Servers see the truth, and what she says.
        let read = String(decoding: try await here.ask("GET", "/v1/presence?user=alice").body, as: UTF8.self)
        #expect(read.contains(#""status":"online""#) && read.contains(#""text":"In  class""#))
        // What another user sees, and why.
        for (query, status, rule) in [
            ("as=bob", "offline", "blocked"), ("as=carol", "online", "no_times"), ("as=alice", "online", "oneself"),
        ] {
            let seen = String(
                decoding: try await here.ask("GET", "/v1/presence?user=alice&\(query)").body, as: UTF8.self)
            let why = String(decoding: try await here.ask("GET", "/v1/users/alice?\(query)").body, as: UTF8.self)
            #expect(seen.contains(#""status":"\#(status)""#) && why.contains(#""code":"\#(rule)""#), "\(query): \(why)")
            #expect(seen.contains(#""last_seen":null"#) == (rule != "oneself"))
        }
        for query in ["in=c42", "as=bob&in=", "as=%7B"] {
            #expect(try await here.ask("GET", "/v1/presence?user=alice&\(query)").status == 400)
        }
        #expect(
            try await here.ask("POST", "/v1/presence", #"{"users":["alice"],"stored":true,"as":"bob"}"#).status == 400)
        let many = (0...1000).map { #""u\#($0)""# }.joined(separator: ",")
        #expect(try await here.ask("PUT", "/v1/users/alice/person", #"{"blocked":[\#(many)]}"#).status == 400)
        for (method, path, body) in [
            ("PATCH", "person", #"{"presence":"everyone"}"#), ("PATCH", "person", #"{"until":5}"#),
            ("PATCH", "person", #"{"blocked":[]}"#), ("PUT", "person", #"{"blocked":"bob"}"#),
            ("PUT", "blocked/%20", ""), ("PATCH", "person", "[]"),
        ] {
            let refused = try await here.ask(method, "/v1/users/alice/\(path)", body)
            #expect(refused.status == 400, "\(method) \(path) \(body)")
        }
        _ = try await deployment.redis.cli("FLUSHALL")
        try await eventually("all of it is back", within: .seconds(20)) {
            try await here.ask("GET", "/v1/users/alice/person").body == set.body
        }
        try await bob.look()
        #expect(bob.messages.newest("alice")?.status == .offline)
        #expect(try await here.ask("PUT", "/v1/users/alice/person", #"{"blocked":[]}"#).status == 200)
        try await sees("alice", .online, on: bob)
        #expect(bob.messages.newest("alice")?.words == nil)
    }
}
