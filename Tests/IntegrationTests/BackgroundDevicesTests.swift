// Background devices are invisible: on real workers, they change nothing that other users can read or receive.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("Background devices")
struct BackgroundDevicesTests {
    @Test("background devices of an offline user cause no update to observers, and reads return the same bytes")
    func nothingIsSeen() async throws {
        let deployment = try await Deployment(workers: 2)
        let observer = try await deployment.workers[0].device("bob", "phone")
        try await observer.ask(.watch(["alice"]))
        let phone = try await deployment.workers[1].device("alice", "phone")
        try await phone.ask(.state(.active))
        try await phone.send(.goodbye)
        try await eventually("the observer sees alice go offline") {
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
            #expect(try await reads(deployment) == before, "the device has connected")
            try await tablet.send(.goodbye)
            try await eventually("it is gone") {
                try await deployment.redis.cli("HGET", "presence:{alice}", "device:tablet").hasPrefix("gone")
            }
            #expect(try await reads(deployment) == before, "it is gone")
        }
        try await observer.look()
        #expect(observer.messages == heard)

        // The next visible change of alice is sent.
        let back = try await deployment.workers[0].device("alice", "phone")
        try await back.ask(.state(.active))
        try await eventually("the observer sees alice come online") {
            try await observer.look()
            return observer.messages.statuses.last == .online
        }
    }

    /// What a server and a newly connected device read about alice, on either worker.
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
