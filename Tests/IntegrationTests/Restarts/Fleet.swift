// Workers without a load balancer: each has an address that it keeps when it is restarted.

import Foundation
import Harness
import RollcallClient
import TestSupport

/// Some workers on one Redis, each of which can be restarted at its address.
final class Fleet {
    let redis: TestRedis
    private(set) var workers: [WorkerProcess] = []
    private let settings: [String: String]

    /// - Parameter settings: configuration of every worker that differs from the defaults.
    init(of count: Int, settings: [String: String] = [:]) async throws {
        redis = try await TestRedis()
        self.settings = settings
        for number in 1...count { workers.append(try await start("w\(number)", port: 0)) }
    }

    /// The addresses that the clients know.
    var urls: [String] { workers.map(\.edge) }

    /// Restarts a stopped worker under its id and at its address.
    func startAgain(_ index: Int) async throws {
        workers[index] = try await start("w\(index + 1)", port: workers[index].port)
    }

    /// Connects a client that knows all workers to one of them.
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
    /// The worker that it is connected to.
    var worker: String? {
        if case .connected(let session) = connectionState { session.worker } else { nil }
    }
}
