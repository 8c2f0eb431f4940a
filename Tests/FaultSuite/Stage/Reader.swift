// Reads presence through a worker all the time, alternately by HTTP and by `get`.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallClient

/// Reads the presence of all users of a stage through one host.
final class Reader: Sendable {
    private let host: Host
    private let observer: Roamer
    private let users: @Sendable () -> [UserID]
    private let answers = NIOLockedValueBox<[Read]>([])

    /// A read that takes longer than this does not count.
    private static let patience = Duration.seconds(2)
    private static let pause = Duration.milliseconds(50)

    init(host: Host, observer: Roamer, users: @escaping @Sendable () -> [UserID]) {
        (self.host, self.observer, self.users) = (host, observer, users)
    }

    var reads: [Read] { answers.withLockedValue { $0 } }

    /// Reads until it is cancelled.
    func run() async {
        var line: HTTPLine?
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            guard !users().isEmpty else { continue }
            do {
                if line == nil, let worker = host.running { line = try await HTTPLine(port: worker.adminPort) }
                if let line { try await record { try await self.get(over: line) } }
            } catch {
                line = nil
            }
            try? await record { try await self.get() }
        }
    }

    private func record(_ read: () async throws -> [Presence]?) async throws {
        let began = Moment.now
        let presences = try await read()
        let statuses = presences.map { presences in
            Dictionary(presences.map { ($0.user, $0.status) }) { $1 }
        }
        answers.withLockedValue {
            $0.append(Read(host: host.number, began: began, ended: .now, statuses: statuses))
        }
    }

    private func get(over line: HTTPLine) async throws -> [Presence]? {
        let query = users().map { "user=\($0.percentEncoded)" }.joined(separator: "&")
        let answer = try await line.get("/v1/presence?\(query)", within: Self.patience)
        guard answer.status == 200 else { return nil }
        return try JSONDecoder().decode(Users.self, from: Data(answer.body.readableBytesView)).users
    }

    private func get() async throws -> [Presence]? {
        guard case .presence(let presences, _) = try await observer.ask(.get(users())) else { return nil }
        return presences
    }

    private struct Users: Decodable {
        let users: [Presence]
    }
}
