// Users on different workers see each other: the applications are real clients, the workers real processes.

import FaultSuite
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("Two workers, one Redis")
struct TwoWorkersTests {
    @Test("typing is shown on the other worker, and ends with the stop")
    func typingShowsAndGoes() async throws {
        // So long that the stop, and not the expiry, ends the typing.
        let deployment = try await Deployment(workers: 2, settings: ["typing.expiry": "8s"])
        let alice = try await deployment.client("alice", "phone", on: 0)
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.typing(in: "c42"))
        try await seen.sees(typing: [])

        let input = alice.typingInput(in: "c42")
        input.edited("h")
        try await seen.sees(typing: ["alice"])
        #expect(await input.sendConfirmed())
        #expect(try await deployment.redis.cli("EXISTS", "typing:{c42}:alice") == "0")
        try await seen.sees(typing: [])
        #expect(seen.all.count == 3, "each change once: \(seen.all)")
    }

    @Test(
        "typing ends three seconds after the last signal of a device that stays connected but sends nothing",
        .enabled(if: isSoaking))
    func typingExpires() async throws {
        let deployment = try await Deployment(workers: 2)
        let alice = try await deployment.workers[0].device("alice", "phone")
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.typing(in: "c42"))
        try await alice.ask(.join("c42", presence: false))

        // A busy machine is not slow in every attempt.
        var times: [Duration] = []
        repeat {
            let metronome = Metronome()
            let signalled = ContinuousClock.now
            try await alice.ask(.typing("c42", true))
            try await seen.sees(typing: ["alice"])
            let gone = try await seen.sees(typing: [])
            #expect(gone - signalled >= .milliseconds(2900))
            times.append(gone - signalled - metronome.longestDelay(since: signalled))
        } while times.min() ?? .zero > .milliseconds(3150) && times.count < 3
        #expect(times.contains { $0 <= .milliseconds(3150) }, "\(times)")
    }

    @Test("typing ends within three seconds of the last signal when its worker is killed", .enabled(if: isSoaking))
    func typingEndsWithItsWorker() async throws {
        let deployment = try await Deployment(workers: 2)
        let alice = try await deployment.workers[0].device("alice", "phone")
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.typing(in: "c42"))
        try await alice.ask(.join("c42", presence: false))

        let metronome = Metronome()
        let signalled = ContinuousClock.now
        try await alice.ask(.typing("c42", true))
        try await seen.sees(typing: ["alice"])
        deployment.workers[0].crash()
        let gone = try await seen.sees(typing: [])
        let limit = .milliseconds(3150) + metronome.longestDelay(since: signalled)
        #expect(gone - signalled <= limit, "\(gone - signalled)")
        #expect(try await deployment.redis.cli("EXISTS", "typing:{c42}:alice") == "0")
    }

    @Test("one call fetches more users than a worker looks up for a session at once")
    func manyFetched() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["limits.watched_users": "100"])
        let users = try (0..<350).map { try UserID("u\($0)") }
        let alice = try await deployment.client("alice", "phone", on: 0)
        let found = await alice.currentPresence(of: users, within: .seconds(30))
        #expect(found.count == users.count)
    }

    @Test("users never see their own typing, on any device and worker")
    func ownTypingIsNotShown() async throws {
        let deployment = try await Deployment(workers: 2)
        let phone = try await deployment.client("alice", "phone", on: 0)
        let laptop = try await deployment.client("alice", "laptop", on: 1)
        let bob = try await deployment.client("bob", "phone", on: 1)
        let own = Observer(laptop.typing(in: "c42"))
        let others = Observer(bob.typing(in: "c42"))
        try await own.sees(typing: [])

        let input = phone.typingInput(in: "c42")
        input.edited("h")
        try await others.sees(typing: ["alice"])
        // Updates about others arrive at the laptop after any that would have been about Alice.
        let reply = bob.typingInput(in: "c42")
        reply.edited("y")
        try await own.sees(typing: ["bob"])
        #expect(own.all.allSatisfy { typing in !typing.typists.contains { $0.user == "alice" } }, "\(own.all)")
        #expect(own.all.allSatisfy { $0.count <= 1 }, "\(own.all)")
    }

    @Test("a user is online while any device is, away while the best is idle, and offline without devices")
    func presenceOverTwoDevices() async throws {
        let deployment = try await Deployment(workers: 2)
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.presence(of: "alice"))
        try await seen.sees(.offline)

        let phone = try await deployment.client("alice", "phone", on: 0)
        try await seen.sees(.online)
        let laptop = try await deployment.client("alice", "laptop", on: 1)
        phone.setState(.idle)
        laptop.setState(.background)
        try await seen.sees(.away)
        laptop.setState(.active)
        try await seen.sees(.online)
        await laptop.shutdown()
        try await seen.sees(.away)
        await phone.shutdown()
        try await seen.sees(.offline)

        let statuses = seen.all.map(\.status)
        #expect(statuses == [.offline, .online, .away, .online, .away, .offline])
        let lastSeen = try #require(seen.last?.lastSeen)
        let now = try #require(bob.serverTime)
        #expect(now.since(lastSeen) < .seconds(60))
    }

    @Test("a goodbye is seen, a lost connection after the grace period, and a return within it not at all")
    func graceAfterLoss() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["presence.grace": "2s", "worker.drain": "1s"])
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.presence(of: "alice"))
        let first = try await deployment.workers[0].device("alice", "phone")
        try await seen.sees(.online)

        first.drop()
        let second = try await deployment.workers[1].device("alice", "phone")
        try await second.ask(.state(.idle))
        try await seen.sees(.away)
        try await second.ask(.state(.active))
        try await seen.sees(.online)
        let lost = ContinuousClock.now
        second.drop()
        let offline = try await seen.sees(.offline)
        #expect(offline - lost >= .milliseconds(1900), "\(offline - lost)")
        #expect(seen.all.map(\.status).suffix(4) == [.online, .away, .online, .offline])

        let third = try await deployment.workers[0].device("alice", "phone")
        try await seen.sees(.online)
        try await third.send(.goodbye)
        try await seen.sees(.offline)
    }
}
