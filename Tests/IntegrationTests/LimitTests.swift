// Every limit of the configuration works on a real worker, and is logged.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The limit")
struct LimitTests {
    private func worker(_ settings: [String: String]) async throws -> (Deployment, WorkerProcess) {
        let deployment = try await Deployment(workers: 1, settings: settings)
        return (deployment, deployment.workers[0])
    }

    /// - Parameter user: Who met it, if anybody had signed in.
    private func expectLogged(_ limit: String, of user: String? = nil, by worker: WorkerProcess) async throws {
        try await eventually("the log reports \(limit): \(worker.process.errors)") {
            worker.process.errors.contains("a limit holds hits=1 limit=\(limit)\(user.map { " user=\($0)" } ?? "")\n")
        }
    }

    @Test("of sessions refuses further ones until a session ends")
    func sessions() async throws {
        let (deployment, worker) = try await worker(["limits.sessions": "2"])
        let alice = try await worker.device("alice", "phone")
        let bob = try await worker.device("bob", "phone")
        let carol = await #expect(throws: (any Error).self) { try await WireDevice(port: worker.port) }
        #expect("\(carol.map { "\($0)" } ?? "")".contains("503"))
        try await expectLogged("sessions", by: worker)
        #expect(try await bob.ask(.state(.idle)) == nil)
        alice.drop()
        try await eventually("there is room") { (try? await worker.device("carol", "phone")) != nil }
        withExtendedLifetime(deployment) {}
    }

    @Test("of a user's sessions refuses a further device, and never one that is already connected")
    func sessionsPerUser() async throws {
        let (deployment, worker) = try await worker(["limits.sessions_per_user": "3"])
        var devices: [WireDevice] = []
        // More than one event loop's share of them.
        for number in 0..<3 { devices.append(try await worker.device("alice", "d\(number)")) }
        let fourth = try await WireDevice(port: worker.port)
        try await fourth.send(.hello(.init(token: "alice", device: "d3")))
        #expect(try await fourth.closed() == .tooManySessions)
        #expect(fourth.messages.contains(.goodbye(.init(reason: .limit, reconnect: false))))
        try await expectLogged("sessions_per_user", of: "alice", by: worker)

        let newer = try await worker.device("alice", "d1")
        #expect(try await devices[1].closed() == .replaced)
        #expect(try await worker.device("bob", "d3").ask(.state(.idle)) == nil)
        devices[0].drop()
        try await eventually("a seat is free") { (try? await worker.device("alice", "d4")) != nil }
        #expect(try await newer.ask(.state(.idle)) == nil)
        withExtendedLifetime(deployment) {}
    }

    @Test("of hellos makes a user who reconnects repeatedly wait, and limits the updates to watchers")
    func hellos() async throws {
        let (deployment, worker) = try await worker([:])
        let watcher = try await worker.device("alice", "phone")
        #expect(try await watcher.ask(.watch(["mallory"])) == nil)
        let start = ContinuousClock.now
        var refused = false
        var count = 0
        while !refused, count < 400 {
            count += 1
            let device = try await WireDevice(port: worker.port)
            try await device.send(.hello(.init(token: "mallory", device: "d")))
            try await device.send(.goodbye)
            refused = try await device.closed() == .busy
        }
        #expect(refused && count > 80, "\(count) times")
        try await expectLogged("hellos_per_user", of: "mallory", by: worker)
        let periods = Int((ContinuousClock.now - start) / .milliseconds(500))
        let frames = watcher.messages.count { if case .presence = $0 { true } else { false } }
        #expect(frames <= periods + 3, "\(frames) frames in \(periods) periods")
        withExtendedLifetime(deployment) {}
    }

    @Test("of what a session may subscribe to refuses more, and the session continues")
    func holdings() async throws {
        let (deployment, worker) = try await worker([
            "limits.watched_users": "3", "limits.joined_conversations": "2",
        ])
        let alice = try await worker.device("alice", "phone")
        #expect(try await alice.ask(.watch(["a", "b", "c"])) == nil)
        #expect(try await alice.ask(.watch(["d"]))?.code == .limit)
        #expect(try await alice.ask(.get(["a", "b", "c", "d"]))?.code == .limit)
        #expect(try await alice.ask(.join("c1", presence: false)) == nil)
        #expect(try await alice.ask(.join("c2", presence: false)) == nil)
        #expect(try await alice.ask(.join("c3", presence: false))?.code == .limit)
        try await expectLogged("watched_users", of: "alice", by: worker)
        try await expectLogged("joined_conversations", of: "alice", by: worker)
        withExtendedLifetime(deployment) {}
    }

    @Test("of messages slows the sessions of a user who exceeds it, and closes none", .timeLimit(.minutes(2)))
    func messages() async throws {
        let (deployment, worker) = try await worker(["limits.message_rate": "5", "limits.message_burst": "10"])
        let alice = try await worker.device("alice", "phone")
        for _ in 0..<8 { try await alice.send(.ping) }
        #expect(try await alice.ask(.state(.idle)) == nil)
        let mallory = try await worker.device("mallory", "phone")
        for _ in 0..<15 { try await mallory.send(.ping) }
        #expect(try await mallory.ask(.state(.idle)) == nil, "it waited")
        for _ in 0..<3 {
            let users = try (0..<400).map { try UserID("u\($0)") }
            #expect(try await mallory.ask(.watch(users)) == nil, "no message costs more than the burst")
        }
        try await expectLogged("message_rate", of: "mallory", by: worker)
        withExtendedLifetime(deployment) {}
    }

    @Test("of bytes and of time closes a session that exceeds it")
    func bytesAndTime() async throws {
        let (deployment, worker) = try await worker([
            "limits.message_bytes": "2048", "limits.hello": "300ms", "edge.origins": "https://example.org",
        ])
        let silent = try await WireDevice(port: worker.port)
        let alice = try await worker.device("alice", "phone")
        try await alice.send(text: String(repeating: " ", count: 2049))
        #expect(try await alice.closed() == .tooBig)
        #expect(try await silent.closed() == .late)
        try await expectLogged("message_bytes", by: worker)
        try await expectLogged("hello", by: worker)
        withExtendedLifetime(deployment) {}
    }

    /// What a proxy has made of the two explains most refused pages.
    @Test("of origins is logged with the origin and the host of the refused request")
    func origins() async throws {
        let (deployment, worker) = try await worker(["edge.origins": "https://example.org"])
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(worker.port)/v1/connect")!)
        request.setValue("https://site.example", forHTTPHeaderField: "Origin")
        let (_, answer) = try await URLSession.shared.data(for: request)
        #expect((answer as? HTTPURLResponse)?.statusCode == 403)
        #expect((answer as? HTTPURLResponse)?.value(forHTTPHeaderField: "Rollcall") == "1")
        try await eventually("the log names both: \(worker.process.errors)") {
            worker.process.errors.contains(
                "a limit holds hits=1 host=127.0.0.1:\(worker.port) limit=origins origin=https://site.example\n")
        }
        withExtendedLifetime(deployment) {}
    }
}
