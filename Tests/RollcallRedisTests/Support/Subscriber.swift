// A subscriber on its loop, used from a test's task.

import NIOCore
import NIOPosix
import RollcallModel
import Synchronization
import TestSupport

@testable import RollcallRedis

final class Subscriber: Sendable {
    /// The events reported to the owner, in order: `+channel`, `channel: payload`, an error's code.
    var events: [String] { log.withLock { $0 } }
    private let log = Mutex<[String]>([])
    let eventLoop: any EventLoop
    /// Kept running for as long as this value exists.
    private let redis: RedisServer?
    private let bound: NIOLoopBoundBox<SubscriberConnection?>

    init(
        of redis: RedisServer? = nil, url: String? = nil, at endpoint: Endpoint? = nil,
        settings: ConnectionSettings = ConnectionSettings(),
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ) async throws {
        let endpoint = try endpoint ?? RedisDeployment(url: url ?? redis?.openURL ?? "").endpoint()
        self.redis = redis
        self.eventLoop = eventLoop
        bound = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
        try await eventLoop.submit { [self] in
            let connection = SubscriberConnection(
                to: endpoint, name: "test", on: eventLoop, logger: quiet, settings: settings)
            connection.onDenied = { [weak self] in self?.note("\($0.code)") }
            connection.onDisconnect = { [weak self] in self?.note("\($0.code)") }
            connection.onSubscribed = { [weak self] in for topic in $0 { self?.note("+\(topic.channel)") } }
            connection.onMessage = { [weak self] topic, payload in
                self?.note("\(topic.channel): \(String(buffer: payload))")
            }
            bound.value = connection
            connection.start()
        }.get()
    }

    private func note(_ event: String) {
        log.withLock { $0.append(event) }
    }

    /// Uses the connection on its loop.
    func use<Result: Sendable>(_ body: @escaping @Sendable (SubscriberConnection) throws -> Result) async throws
        -> Result
    {
        try await eventLoop.submit { try body(self.bound.value!) }.get()
    }

    /// Subscribes to channels and waits until all are confirmed.
    func subscribe(_ channels: String...) async throws {
        try await use { connection in for channel in channels { connection.subscribe(channel) } }
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

    /// Returns the events since the last call of this function, and forgets them.
    func takeEvents() -> [String] {
        log.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// The number of confirmed subscriptions so far.
    var confirmations: Int { events.count { $0.hasPrefix("+") } }

    func close() async throws {
        try await eventLoop.flatSubmit { self.bound.value!.close() }.get()
    }
}

extension SubscriberConnection {
    /// Subscribes to a channel, with any subject.
    func subscribe(_ channel: String) {
        subscribe(channel, as: .worker(Incarnation(name: channel)))
    }
}

extension Topic {
    /// The channel of this subscription.
    fileprivate var channel: String {
        guard case .worker(let incarnation) = self else { return "\(self)" }
        return incarnation.name
    }
}
