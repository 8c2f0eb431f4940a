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
        let found = options.url.isEmpty ? await running() : []
        return try choose(options.url, among: found, admin: admin)
    }

    /// Not a part of ``find(_:admin:)``: inlined there, it crashes the optimizer of Swift 6.3.1.
    @inline(never)
    private static func choose(
        _ urls: [String], among workers: [Settings.Worker], admin: AdminOptions
    ) throws -> LoadTarget {
        guard urls.isEmpty else {
            for url in urls { _ = try Crowd.Address(url: url) }
            return LoadTarget(urls: urls, isFound: false, admin: try admin.port())
        }
        guard let first = workers.first else {
            return LoadTarget(urls: [usual], isFound: true, admin: try admin.port())
        }
        var admin = admin
        if admin.admin == AdminOptions.usual { admin.admin = first.admin }
        return LoadTarget(urls: workers.map(\.edge), isFound: true, admin: try admin.port())
    }

    /// - Returns: no workers if no `rollcall dev` runs on its usual port.
    private static func running() async -> [Settings.Worker] {
        guard let address = AdminAddress(page),
            let answer = try? await AdminPort(address: address, token: nil, tls: nil).exchange(.get, "/settings.json"),
            answer.status == .ok
        else { return [] }
        let settings = try? JSONDecoder().decode(Settings.self, from: Data(answer.body.readableBytesView))
        return settings?.workers ?? []
    }
}
