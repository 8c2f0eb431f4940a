import RollcallProtocol
import RollcallRedis
import TestSupport
import Testing

@testable import RedisTwin
@testable import struct RedisTwin.TwinRedis

/// The store on a private `redis-server`.
final class RealRedis: Contract {
    private let store: StoreUnderTest
    private let clock: SettableClock?
    private let listener: Overhearing

    init(settings: TwinRedis.Settings) async throws {
        clock = try SettableClock.isAvailable ? SettableClock() : nil
        store = try await StoreUnderTest(
            settings: Store.Settings(
                retention: settings.retention, typingExpiry: settings.typingExpiry,
                keptEvents: settings.appendsEvents ? 100_000 : nil, readsAccess: true), clock: clock)
        listener = try await Overhearing(store.redis)
    }

    func call<Value: Hashable & Sendable>(
        _: String, _ store: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void,
        twin: @Sendable (inout TwinRedis) -> Value
    ) async throws -> Value {
        try await self.store.call(store)
    }

    func published() async throws -> [Published] {
        let mark = String(UInt64.random(in: 0 ... .max))
        try await store.command("PUBLISH", Overhearing.mark, mark)
        return try await listener.heard(before: mark)
    }

    func keys() async throws -> [String: StoredKey] { try await store.keys() }

    func time() async throws -> Timestamp { try await store.now() }

    func wait(until moment: Timestamp) async throws {
        try await eventually("Redis's clock has come to \(moment.milliseconds)", every: .milliseconds(1)) {
            try await time() >= moment
        }
    }

    /// Keys that have expired by the new clock are deleted at once, as happens soon in any Redis.
    func setClock(by step: Duration) async throws {
        try await dropExpired()
        try #require(clock).advance(by: step)
        try await dropExpired()
    }

    /// Deletes every key that has expired by now. Redis chooses the time of deletion itself, and after a step of the
    /// clock, an expired key may be valid again.
    private func dropExpired() async throws {
        try await store.command("SCAN", "0", "COUNT", "1000000")
    }

    func plant(_ record: PresenceRecord) async throws {
        try await store.command("HSET", arguments: [KeyNames().presence(record.user)] + record.hash)
    }

    func flush() async throws { try await store.command("FLUSHALL") }
}

/// The twin. Its time changes only when a test sets it.
actor TwinUnderTest: Contract {
    private var twin: TwinRedis

    init(settings: TwinRedis.Settings) {
        twin = TwinRedis(settings: settings, time: Timestamp(milliseconds: 1_784_600_000_000))
        twin.hostTime = twin.time
    }

    func call<Value: Hashable & Sendable>(
        _: String, _ store: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void,
        twin: @Sendable (inout TwinRedis) -> Value
    ) -> Value {
        twin(&self.twin)
    }

    func published() -> [Published] {
        defer { twin.published = [] }
        return twin.published
    }

    func keys() -> [String: StoredKey] { twin.keys(KeyNames()) }

    func time() -> Timestamp { twin.time }

    func wait(until moment: Timestamp) {
        guard moment > twin.time else { return }
        twin.hostTime = twin.hostTime?.advanced(by: moment.since(twin.time))
        twin.time = moment
    }

    func setClock(by step: Duration) { twin.setClock(by: step) }

    func plant(_ record: PresenceRecord) { twin.presences[record.user] = Expiring(value: record, expires: nil) }

    func flush() { twin.flush() }

    /// Sets the clock to the time at which a real Redis executed something.
    func set(time: Timestamp) { twin.time = time }

    /// The times at which keys expire and leases end.
    var deadlines: [Timestamp] {
        keys().values.compactMap(\.expires) + twin.leases.values + twin.access.values.flatMap(\.value.admitted.values)
    }
}

/// What is published about the users and conversations of the contract tests, as a worker receives it.
private final class Overhearing: Sendable {
    /// A separate channel of the listener: a message on it follows everything published before.
    static let mark = "mark"
    /// Everything that tests publish must be about one of these.
    private static let topics: [Topic] =
        [lounge, kitchen].flatMap { [.typing($0), .members($0), .here($0)] } + [.presence(alice), .presence(bob)]
        + [w1, w2, w3].map { .worker($0) }

    private let client: TestClient

    init(_ redis: RedisServer) async throws {
        client = try await TestClient(redis.openURL)
        try await client.subscribe([Self.mark] + Self.topics.map { KeyNames().channel(of: $0) })
        _ = client.takeEvents()
    }

    /// Returns what arrived since the last call, up to the message `mark` on the channel of marks.
    func heard(before mark: String) async throws -> [Published] {
        let end = "\(Self.mark): \(mark)"
        try await eventually("everything published is heard", every: .milliseconds(1)) {
            client.events.last == end
        }
        return try client.takeEvents().dropLast().compactMap { event in
            for topic in Self.topics {
                let head = "\(KeyNames().channel(of: topic)): "
                guard event.hasPrefix(head) else { continue }
                return try Published(String(event.dropFirst(head.count)), about: topic)
            }
            return nil
        }
    }
}

extension Published {
    private struct Unreadable: Error {
        var topic: Topic
        var payload: String
    }

    /// The part of a presence payload that ``Presence`` does not have.
    private struct Surroundings: JSONReadable {
        var devices: Int
        var at: Timestamp

        init(json: JSONValue) throws(UnexpectedJSON) {
            (devices, at) = (try json.field("devices"), try json.field("at"))
        }
    }

    fileprivate init(_ payload: String, about topic: Topic) throws {
        switch topic {
        case .typing(let conversation): self = .typing(try decoded(payload), in: conversation)
        case .members(let conversation): self = .members(try decoded(payload), of: conversation)
        case .here(let conversation): self = .here(try decoded(payload), in: conversation)
        case .presence(let user):
            if let change: PersonChange = try? decoded(payload) {
                guard change.user == user else { throw Unreadable(topic: topic, payload: payload) }
                self = .person(change)
                return
            }
            let (change, around) = (try decoded(payload) as PresenceChange, try decoded(payload) as Surroundings)
            guard change.presence.user == user, around.at == change.presence.updatedAt else {
                throw Unreadable(topic: topic, payload: payload)
            }
            self = .presence(change, devices: around.devices)
        case .worker(let incarnation):
            guard let notice = WorkerNotice(payload: payload.utf8) else {
                throw Unreadable(topic: topic, payload: payload)
            }
            self = .notice(notice, to: incarnation)
        }
    }
}

private func decoded<Value: JSONReadable>(_ payload: String) throws -> Value { try Value(jsonText: payload.utf8) }
