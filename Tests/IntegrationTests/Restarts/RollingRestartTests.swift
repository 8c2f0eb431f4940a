// A rolling restart: all workers are replaced, one after another, while users are connected, watch each other and type.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A rolling restart", .enabled(if: isSoaking))
struct RollingRestartTests {
    private let users = (0..<60).map { try! UserID("user\($0)") }

    @Test("is not noticed by observers, and moves the devices at an even rate")
    func isNotSeen() async throws {
        let fleet = try await Fleet(of: 3, settings: ["worker.drain": "2s", "presence.grace": "4s"])
        let before = Set(fleet.workers.map(\.incarnation))
        var clients: [RollcallClient] = []
        for user in users { clients.append(try await fleet.client(user.text)) }
        let connections = clients.map { Observer($0.connection) }
        let looks = try await observers(of: fleet)
        let monitors = try await fleet.redis.monitors()
        let typing = Task { [clients] in try await Self.type(clients.prefix(6)) }

        for index in fleet.workers.indices {
            let reconnects = try await restart(index, of: fleet, connections)
            print("worker \(index + 1): \(reconnects)")
            #expect(reconnects.moments.count >= 5)
            #expect(reconnects.histogram.max() ?? 0 <= reconnects.moments.count * 6 / 10, "\(reconnects)")
            #expect(reconnects.longestGap < .seconds(2), "\(reconnects)")
        }
        typing.cancel()
        try await eventually("nothing is left of the former workers") {
            let names = try await fleet.redis.cli("ZRANGE", "{workers}", "0", "-1")
            return before.allSatisfy { !names.contains($0) }
        }
        clients[0].setState(.idle)
        for look in looks {
            try await look.presences.sees("the last change", within: .seconds(20)) { $0[users[0]]?.status == .away }
            #expect(look.presences.all.allSatisfy { seen in !seen.values.contains { $0.status == .offline } })
            try await look.typing.sees(typing: [], within: .seconds(20))
        }
        // MONITOR shows what scripts publish with escaped quotes.
        #expect(monitors.contains { $0.output.contains(#"\"status\":\"away\""#) })
        #expect(!monitors.contains { $0.output.contains(#"\"status\":\"offline\""#) })
        #expect(clients.allSatisfy { client in client.worker.map { !before.contains($0) } == true })
    }

    private struct Look {
        let presences: Observer<[UserID: Presence]>
        let typing: Observer<Typing>
    }

    private func observers(of fleet: Fleet) async throws -> [Look] {
        var looks: [Look] = []
        for number in 0..<3 {
            let client = try await fleet.client("observer\(number)")
            let look = Look(
                presences: Observer(client.presence(of: users)), typing: Observer(client.typing(in: "c42")))
            try await look.presences.sees("everybody", within: .seconds(20)) { $0.count == users.count }
            looks.append(look)
        }
        return looks
    }

    /// Stops a worker in order and restarts it.
    private func restart(
        _ index: Int, of fleet: Fleet, _ connections: [Observer<ConnectionState>]
    ) async throws -> Reconnects {
        let told = ContinuousClock.now
        fleet.workers[index].process.signal(SIGTERM)
        #expect(try await fleet.workers[index].process.exitCode() == 0)
        #expect(ContinuousClock.now - told < .seconds(4), "the drain and a short time")
        try await fleet.startAgain(index)
        try await eventually("all clients are connected") { connections.allSatisfy { $0.last?.isConnected == true } }
        return Reconnects(of: connections, since: told)
    }

    /// Types until the task is cancelled.
    private static func type(_ clients: some Sequence<RollcallClient>) async throws {
        let inputs = clients.map { $0.typingInput(in: "c42") }
        var text = ""
        while true {
            text += "x"
            for input in inputs { input.edited(text) }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
