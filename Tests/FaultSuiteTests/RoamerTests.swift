// The suite's devices must be good clients, or it would measure their faults.

import Foundation
import RollcallClient
import TestSupport
import Testing

@testable import FaultSuite
@testable import Harness

@Suite("A roaming device")
struct RoamerTests {
    @Test("reconnects elsewhere when its worker leaves, repeats its subscriptions, and never appears offline")
    func roams() async throws {
        let deployment = try await Deployment(workers: 2, settings: ["worker.drain": "500ms"])
        let hosts = Hosts(count: 2) { deployment.workers[$0].port }
        let alice = try await Roamer("alice", "phone", state: .idle, hosts: hosts)
        let bob = try await Roamer("bob", "phone", hosts: hosts)
        for device in [alice, bob] { try await device.come(to: 0) }
        try await bob.ask(.watch(["alice"]))
        deployment.workers[0].process.signal(SIGTERM)
        try await eventually("both are on the other worker") {
            let places = (try await alice.whereabouts(), try await bob.whereabouts())
            return places == (1, 1)
        }
        try await alice.ask(.state(.active))
        try await eventually("bob sees alice active") { statuses(seenBy: bob).last == .online }
        #expect(statuses(seenBy: bob).allSatisfy { $0 != .offline })
        #expect(alice.notes.contains { if case .goodbye(let goodbye) = $0.event { goodbye.reconnect } else { false } })
    }

    @Test("stays away after a goodbye, and reconnects to its restarted worker if configured to")
    func manners() async throws {
        let deployment = try await Deployment(workers: 2)
        let port = deployment.workers[0].port
        let door = try await Proxy(to: port)
        let hosts = Hosts(count: 2) { $0 == 0 ? door.port : deployment.workers[1].port }
        let gone = try await Roamer("alice", "phone", hosts: hosts)
        let home = try await Roamer("bob", "phone", manner: .returnsHome, hosts: hosts)
        for device in [gone, home] { try await device.come(to: 0) }
        try await gone.goodbye()
        try await door.aim(at: nil)
        try await door.cut(.reset)
        try await eventually("bob tries, and is refused") {
            home.notes.count { if case .tried = $0.event { true } else { false } } > 3
        }
        try await door.aim(at: port)
        try await eventually("bob is home") { try await home.whereabouts() == 0 }
        #expect(try await gone.whereabouts() == nil)
    }

    @Test("sends new tokens over its connection, which outlives the first token")
    func tokens() async throws {
        let issuer = try TokenIssuer()
        let settings = issuer.configuration.merging(["auth.leeway": "0s"]) { $1 }
        let deployment = try await Deployment(workers: 1, settings: settings)
        let hosts = Hosts(count: 1) { deployment.workers[$0].port }
        let tokens = issuer.tokens(validFor: .seconds(3), refreshedAfter: .seconds(1))
        let alice = try await Roamer("alice", "phone", manner: .staysAway, tokens: tokens, hosts: hosts)
        try await alice.come(to: 0)
        let came = ContinuousClock.now
        try await eventually("several tokens were sent") {
            alice.notes.count { if case .refreshed = $0.event { true } else { false } } >= 5
        }
        #expect(ContinuousClock.now - came > .seconds(4))
        #expect(try await alice.whereabouts() == 0)
        let impostor = try await Roamer("alice", "phone", manner: .staysAway, tokens: .names, hosts: hosts)
        await #expect(throws: (any Error).self) { try await impostor.come(to: 0) }
    }

    private func statuses(seenBy roamer: Roamer) -> [PresenceStatus] {
        roamer.notes.compactMap { if case .presence(let presence) = $0.event { presence.status } else { nil } }
    }
}
