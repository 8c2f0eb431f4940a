// Which workers get the load, if none are named.

import Foundation
import NIOCore
import NIOHTTP1
import RollcallLoad

/// The workers of a load, and the admin port that reports their figures.
struct LoadTarget: Sendable {
    let urls: [String]
    /// Whether the workers were found and not named.
    let isFound: Bool
    let admin: AdminPort

    /// The demo page of `rollcall dev`, which knows its workers.
    private static let page = "http://127.0.0.1:8000"
    private static let usual = "ws://127.0.0.1:8080/v1/connect"

    private struct Settings: Decodable {
        struct Worker: Decodable {
            let edge: String
            let admin: String
        }

        let workers: [Worker]
    }

    static func find(_ options: LoadOptions, admin: AdminOptions) async throws -> LoadTarget {
        var admin = admin
        guard options.url.isEmpty else {
            for url in options.url { _ = try Crowd.Address(url: url) }
            return LoadTarget(urls: options.url, isFound: false, admin: try admin.port())
        }
        guard let workers = await running(), let first = workers.first else {
            return LoadTarget(urls: [usual], isFound: true, admin: try admin.port())
        }
        if admin.admin == AdminOptions.usual { admin.admin = first.admin }
        return LoadTarget(urls: workers.map(\.edge), isFound: true, admin: try admin.port())
    }

    /// - Returns: `nil` if no `rollcall dev` runs on its usual port.
    private static func running() async -> [Settings.Worker]? {
        guard let address = AdminAddress(page),
            let answer = try? await AdminPort(address: address, token: nil, tls: nil).exchange(.get, "/settings.json"),
            answer.status == .ok
        else { return nil }
        return try? JSONDecoder().decode(Settings.self, from: Data(answer.body.readableBytesView)).workers
    }
}
