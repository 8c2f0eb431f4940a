// A subscriber on its loop, driven from a test's task.

import NIOCore
import NIOPosix
import RollcallRedis
import Synchronization
import TestSupport

final class Subscriber: Sendable {
    /// What the connection told its owner, in order: `connected`, `+channel`, `channel: payload`, an error's code.
    var events: [String] { log.withLock { $0 } }
    private let log = Mutex<[String]>([])
    let eventLoop: any EventLoop
    /// Kept running for as long as this lives.
    private let redis: RedisServer?
    private let bound: NIOLoopBoundBox<SubscriberConnection?>

    init(
        of redis: RedisServer? = nil, url: String? = nil, settings: ConnectionSettings = ConnectionSettings(),
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ) async throws {
        let location = try RedisLocation(url: url ?? redis?.openURL ?? "")
        self.redis = redis
        self.eventLoop = eventLoop
        bound = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
        try await eventLoop.submit { [self] in
            let connection = SubscriberConnection(
                to: location, name: "test", on: eventLoop, logger: quiet, settings: settings)
            connection.onConnect = { [weak self] in self?.note("connected") }
            connection.onDisconnect = { [weak self] in self?.note("\($0.code)") }
            connection.onSubscribed = { [weak self] in self?.note("+\($0)") }
            connection.onMessage = { [weak self] channel, payload in
                self?.note("\(channel): \(String(buffer: payload))")
            }
            bound.value = connection
            connection.start()
        }.get()
    }

    private func note(_ event: String) {
        log.withLock { $0.append(event) }
    }

    /// Does something with the connection, on its loop.
    func use<Result: Sendable>(_ body: @escaping @Sendable (SubscriberConnection) throws -> Result) async throws
        -> Result
    {
        try await eventLoop.submit { try body(self.bound.value!) }.get()
    }

    /// Wants channels and waits until all are confirmed.
    func subscribe(_ channels: String...) async throws {
        try await use { connection in channels.forEach(connection.subscribe) }
        try await confirmed(channels)
    }

    func confirmed(_ channels: [String]) async throws {
        try await eventually("\(channels.count) channels are confirmed") {
            try await use { channels.allSatisfy($0.isConfirmed) }
        }
    }

    /// Waits until `event` has happened `times` times.
    func heard(_ event: String, times: Int = 1) async throws {
        try await eventually("\(event) is heard \(times) times") { count(of: event) >= times }
    }

    func count(of event: String) -> Int {
        events.count { $0 == event }
    }

    /// How many subscriptions have been confirmed so far.
    var confirmations: Int { events.count { $0.hasPrefix("+") } }

    func close() async throws {
        try await eventLoop.flatSubmit { self.bound.value!.close() }.get()
    }
}
