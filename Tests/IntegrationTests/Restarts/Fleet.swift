// Workers as they are deployed where no load balancer stands before them: each at an address that outlives it.

import Foundation
import Harness
import RollcallClient
import TestSupport

/// Some workers beside a Redis, each of which can be started again where it was.
final class Fleet {
    let redis: TestRedis
    private(set) var workers: [WorkerProcess] = []
    private let settings: [String: String]

    /// - Parameter settings: of every worker, what is not as it is by default.
    init(of count: Int, settings: [String: String] = [:]) async throws {
        redis = try await TestRedis()
        self.settings = settings
        for number in 1...count { workers.append(try await start("w\(number)", port: 0)) }
    }

    /// The addresses that the clients know.
    var urls: [String] { workers.map(\.edge) }

    /// Starts a worker anew under the name and at the address of one that has ended.
    func startAgain(_ index: Int) async throws {
        workers[index] = try await start("w\(index + 1)", port: workers[index].port)
    }

    /// An app's client that knows all the workers, connected to one of them.
    func client(_ user: String, _ device: DeviceID = "phone") async throws -> RollcallClient {
        let client = RollcallClient(urls: urls, device: device) { user }
        client.connect()
        try await eventually("\(user)'s \(device) is connected") { client.connectionState.isConnected }
        return client
    }

    private func start(_ id: String, port: Int) async throws -> WorkerProcess {
        try await WorkerProcess(id, redis: redis.url, settings: settings.merging(["edge.port": "\(port)"]) { $1 })
    }
}

extension RollcallClient {
    /// The worker to which it is connected.
    var worker: String? {
        if case .connected(let session) = connectionState { session.worker } else { nil }
    }
}
