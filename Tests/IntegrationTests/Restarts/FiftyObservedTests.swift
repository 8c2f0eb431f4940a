// A user watches 50 others when the worker is killed. Some of the 50 were connected to it too; some of the others
// change during the outage.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("An observer of 50 users whose worker is killed", .enabled(if: isSoaking))
struct FiftyObservedTests {
    @Test("sees the current state within two seconds on another worker, and nothing wrong in between")
    func killed() async throws {
        let fleet = try await Fleet(of: 3)
        let observer = try await fleet.client("observer", "desk")
        let doomed = try #require(fleet.workers.first { $0.incarnation == observer.worker })
        let others = fleet.workers.filter { $0.incarnation != observer.worker }
        let people = try await People(on: doomed, and: others, of: fleet)
        let connection = Observer(observer.connection)
        let seen = Observer(observer.presence(of: people.all))
        try await seen.sees("everybody online", within: .seconds(20)) {
            $0.count == 50 && $0.values.allSatisfy { $0.status == .online }
        }

        let killed = ContinuousClock.now
        doomed.crash()
        try await people.change()
        let changed = ContinuousClock.now
        let converged = try await seen.sees("who left and who idles", within: .seconds(10)) { now in
            people.leaving.allSatisfy { now[$0]?.status == .offline }
                && people.idling.allSatisfy { now[$0]?.status == .away }
        }
        let swept = try await seen.sees("who vanished with the worker", within: .seconds(20)) { now in
            people.vanishing.allSatisfy { now[$0]?.status == .offline }
        }
        let back = try #require(connection.timeline.first { $0.at > killed && $0.value.isConnected }?.at)
        print(
            """
            A worker killed under an observer of fifty: connected to another after \((back - killed).milliseconds) ms, \
            shows what changed after \((converged - killed).milliseconds) ms (the last change came after \
            \((changed - killed).milliseconds) ms), and those who vanished with the worker offline after \
            \((swept - killed).milliseconds) ms
            """)
        #expect(observer.worker != doomed.incarnation)
        #expect(converged - max(back, changed) < .seconds(2))
        #expect(swept - killed < .seconds(7), "at most the lease and two seconds")
        let shown = seen.timeline.filter { $0.at > killed }.map(\.value)
        #expect(people.wronglyShown(in: shown).isEmpty)
        #expect(shown.allSatisfy { $0.count == 50 }, "no user becomes unknown again")
    }
}

/// The 50 users, and what happens to them.
private struct People {
    /// Online all the time. Those on the killed worker reconnect automatically.
    let staying = Self.names("stays", 30)
    let leaving = Self.names("leaves", 8)
    let idling = Self.names("idles", 6)
    /// Their devices go down with the worker.
    let vanishing = Self.names("vanishes", 6)
    private let clients: [RollcallClient]
    private let leavers: [WireDevice]
    private let idlers: [WireDevice]
    private let lost: [WireDevice]

    init(on doomed: WorkerProcess, and others: [WorkerProcess], of fleet: Fleet) async throws {
        clients = try await Self.clients(staying, of: fleet)
        leavers = try await Self.devices(leaving, on: others)
        idlers = try await Self.devices(idling, on: others)
        lost = try await Self.devices(vanishing, on: [doomed])
        #expect(clients.contains { $0.worker == doomed.incarnation }, "some users who stay online were connected to it")
    }

    var all: [UserID] { staying + leaving + idling + vanishing }

    /// Some leave, and some become idle.
    func change() async throws {
        for device in leavers { try await device.send(.goodbye) }
        for device in idlers { try await device.send(.state(.idle)) }
    }

    /// Returns the users who were shown with a wrong status, or changed more than once.
    func wronglyShown(in shown: [[UserID: Presence]]) -> [String] {
        let truths: [([UserID], [PresenceStatus])] = [
            (staying, [.online]), (leaving, [.online, .offline]), (idling, [.online, .away]),
            (vanishing, [.online, .offline]),
        ]
        return truths.flatMap { users, truth in
            users.compactMap { user in
                var statuses: [PresenceStatus] = []
                for presence in shown.compactMap({ $0[user] }) where presence.status != statuses.last {
                    statuses.append(presence.status)
                }
                return truth.suffix(statuses.count) == statuses[...] ? nil : "\(user): \(statuses)"
            }
        }
    }

    private static func names(_ word: String, _ count: Int) -> [UserID] {
        (0..<count).compactMap { try? UserID("\(word)\($0)") }
    }

    private static func clients(_ users: [UserID], of fleet: Fleet) async throws -> [RollcallClient] {
        var clients: [RollcallClient] = []
        for user in users { clients.append(try await fleet.client(user.text)) }
        return clients
    }

    private static func devices(_ users: [UserID], on workers: [WorkerProcess]) async throws -> [WireDevice] {
        var devices: [WireDevice] = []
        for (number, user) in users.enumerated() {
            devices.append(try await workers[number % workers.count].device(user.text, "phone"))
        }
        return devices
    }
}
