// Devices in the background are no observer's business: on real workers, nothing that others can ask or hear moves.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("Background devices")
struct BackgroundDevicesTests {
    @Test("background devices of an offline user come and go: observers hear nothing, and reads stay the same bytes")
    func nothingIsSeen() async throws {
        let deployment = try await Deployment(workers: 2)
        let observer = try await deployment.workers[0].device("bob", "phone")
        try await observer.ask(.watch(["alice"]))
        let phone = try await deployment.workers[1].device("alice", "phone")
        try await phone.ask(.state(.active))
        try await phone.send(.goodbye)
        try await eventually("the observer sees alice go") {
            try await observer.look()
            return observer.messages.statuses.last == .offline
        }
        let heard = observer.messages
        let before = try await reads(deployment)
        #expect(before.count == 6 && before[0].contains(#""status":"offline""#))

        for round in 0..<3 {
            let version = try await self.version(deployment)
            let worker = deployment.workers[round % 2]
            let tablet = try await worker.device("alice", "tablet", state: .background)
            try await tablet.ask(.state(.background))
            #expect(try await self.version(deployment) > version, "it is written")
            #expect(try await reads(deployment) == before, "it has come")
            try await tablet.send(.goodbye)
            try await eventually("it is gone") {
                try await deployment.redis.cli("HGET", "presence:{alice}", "device:tablet").hasPrefix("gone")
            }
            #expect(try await reads(deployment) == before, "it is gone")
        }
        try await observer.look()
        #expect(observer.messages == heard)

        // The next change that says something of alice is told.
        let back = try await deployment.workers[0].device("alice", "phone")
        try await back.ask(.state(.active))
        try await eventually("the observer sees alice come") {
            try await observer.look()
            return observer.messages.statuses.last == .online
        }
    }

    /// What a server and a device that has just come read of alice, on either worker.
    private func reads(_ deployment: Deployment) async throws -> [String] {
        var reads: [String] = []
        for worker in deployment.workers {
            for query in ["user=alice", "user=alice&user=bob"] {
                reads.append(try await Web.get("\(worker.admin)/v1/presence?\(query)").body)
            }
            let device = try await worker.device("carol", "phone")
            try await device.ask(.watch(["alice"]))
            for case .presence(let users, _) in device.messages { reads += users.map { "\($0)" } }
            try await device.send(.goodbye)
        }
        return reads
    }

    private func version(_ deployment: Deployment) async throws -> Int64 {
        Int64(try await deployment.redis.cli("HGET", "presence:{alice}", "version")) ?? 0
    }
}

extension [ServerMessage] {
    fileprivate var statuses: [PresenceStatus] {
        flatMap { message -> [PresenceStatus] in
            if case .presence(let users, _) = message { users.map(\.status) } else { [] }
        }
    }
}
