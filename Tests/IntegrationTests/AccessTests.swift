// An app's server that decides who may join, with real workers and a real Redis.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import RollcallWorker
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2))) struct AccessTests {
    private static func deployment(_ app: AppServer) async throws -> Deployment {
        try await Deployment(
            workers: 2,
            settings: [
                "conversations.default": "", "access.watch": "shared", "access.timeout": "500ms",
            ].merging(app.configuration) { $1 })
    }

    @Test("whom the app's server admits is in, on all workers, is asked about once, and is put out after a drop")
    func decides() async throws {
        let app = try await AppServer()
        let deployment = try await Self.deployment(app)
        let (worker, other) = (deployment.workers[0], deployment.workers[1])
        app.admit(["alice", "bob"], to: "c")
        let alice = try await worker.device("alice", "phone")
        #expect(try await alice.ask(.join("c", presence: true)) == nil)
        let bob = try await other.device("bob", "phone")
        #expect(try await bob.ask(.join("c", presence: true)) == nil)
        try await eventually("they see each other") {
            try await bob.look()
            return bob.messages.newest("alice")?.status == .online
        }
        let mallory = try await other.device("mallory", "phone")
        #expect(try await mallory.ask(.join("c", presence: true))?.code == .notAMember)
        let asked = app.asked
        #expect(asked.count == 3 && app.unsigned == 0)
        // Elsewhere, later, on another device: nothing is asked.
        let laptop = try await other.device("alice", "laptop")
        #expect(try await laptop.ask(.join("c", presence: false)) == nil)
        #expect(app.asked.count == asked.count)
        let explained = try await other.ask("GET", "/v1/conversations/c/access/alice")
        let access = try JSONDecoder().decode(AdminAccess.self, from: explained.body)
        #expect(access.by == .url && access.mayJoin == true && access.until != nil && access.problem == nil)
        app.admit(["alice"], to: "c")
        #expect(try await worker.ask("DELETE", "/v1/conversations/c/access/bob").status == 204)
        try await eventually("bob is out") {
            try await bob.look()
            return bob.messages.contains(.removed("c"))
        }
        try await alice.look()
        #expect(!alice.messages.contains(.removed("c")))
        #expect(try await bob.ask(.join("c", presence: false))?.code == .notAMember)
        let metrics = String(decoding: try await worker.ask("GET", "/metrics").body, as: UTF8.self)
        for name in [#"questions_total{result="allowed"}"#, "waiting", "seconds_count"] {
            #expect(metrics.contains("rollcall_access_\(name) "))
        }
    }

    @Test("while the app's server is away, joins wait and nobody leaves; they go on when it is back")
    func away() async throws {
        let app = try await AppServer()
        let deployment = try await Self.deployment(app)
        let worker = deployment.workers[0]
        app.admit(["alice", "bob"], to: "c")
        let alice = try await worker.device("alice", "phone")
        #expect(try await alice.ask(.join("c", presence: false)) == nil)
        for trouble in [
            AppServer.Trouble.status(503), .status(500), .hangs, .body("[]"), .body(#"{"answers":[]}"#),
            .body(#"{"answers":[{"user":"mallory","conversation":"c","allow":true}]}"#),
        ] {
            app.trouble = trouble
            let bob = try await deployment.workers[1].device("bob", "\(trouble)".filter(\.isLetter))
            _ = try await worker.ask("DELETE", "/v1/conversations/c/access/bob")
            async let joined = bob.ask(.join("c", presence: false))
            try await Task.sleep(for: .seconds(1.5))
            try await alice.look()
            #expect(!alice.messages.contains(.removed("c")), "\(trouble)")
            app.trouble = nil
            #expect(try await joined == nil, "\(trouble)")
        }
        #expect(app.unsigned == 0)
    }
}
