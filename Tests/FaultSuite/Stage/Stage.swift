// The deployment in which a fault runs, with an observer and a reader on every host.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

/// Three workers on one Redis deployment, their observers and readers, and the expectations.
public final class Stage: Sendable {
    /// What a fault needs in addition to the usual stage.
    struct Equipment: Sendable {
        /// A lease that differs from that of the settings.
        var lease: Duration?
        /// A ping interval that differs from that of the settings.
        var ping: Duration?
        /// How far the clocks of hosts are off.
        var clocks: [Int: Duration] = [:]
        /// The kind of Redis deployment.
        var redis = TestRedis.Kind.server
        /// Whether the clock of Redis, which must be one server, can be set.
        var setsRedisClock = false
        /// How devices authenticate.
        var authentication = Authentication.insecure
        /// Whether tokens are short-lived, and devices send new ones.
        var refreshesTokens = true
        /// Whether only the fault itself may cause activity while it runs.
        var isStill = false
        /// Whether devices connect through proxies.
        var hasDoors = true
        /// `limits.sessions_per_user`, which also sets how often a user may connect; `nil` for the default.
        var sessionsPerUser: Int?
        /// Whether workers append events, which are followed and delivered.
        var keepsEvents = false
        /// Whether the workers run for a whole lease before the fault, or have just started.
        var isWarm = true
    }

    struct State {
        var plan = Plan()
        var roamers: [Roamer] = []
        var users: [UserID] = []
        var lookUntil = Moment.now
    }

    let settings: Settings
    let redis: RedisControl
    let hosts: [Host]
    let doors: Hosts
    let observers: [Roamer]
    let readers: [Reader]
    /// The names behind the roles.
    let naming: Naming
    let isStill: Bool
    /// Those who read the events, if they are kept.
    let eventReaders: EventReaders?
    /// The conversation in which users type.
    let room: ConversationID
    let state: NIOLockedValueBox<State>
    /// Who lets users into conversations without members, where the token does not.
    private let app: AppServer?
    private let issuer: TokenIssuer?
    private let tokens: Harness.TokenSource
    private let reading: Task<Void, Never>

    static let hostCount = 3

    /// Starts the deployment.
    init(_ settings: Settings, _ equipment: Equipment = Equipment()) async throws {
        let settings = settings.with(lease: equipment.lease, ping: equipment.ping)
        self.settings = settings
        let redis = try await RedisControl(equipment.redis, setsClock: equipment.setsRedisClock)
        let naming = Naming()
        let issuer = equipment.authentication == .jwt ? try TokenIssuer() : nil
        let tokens = issuer?.tokens(areRefreshed: equipment.refreshesTokens) ?? .names
        var configuration = settings.configuration.merging(issuer?.configuration ?? [:]) { $1 }
        let app = issuer == nil ? try await AppServer(admitsAll: true) : nil
        configuration.merge(app?.configuration ?? [:]) { $1 }
        if let limit = equipment.sessionsPerUser { configuration["limits.sessions_per_user"] = "\(limit)" }
        let state = NIOLockedValueBox(State())
        let known = NIOLockedValueBox<[Host]>([])
        let eventReaders = equipment.keepsEvents ? try await EventReaders(hosts: known, state) : nil
        configuration.merge(eventReaders?.configuration ?? [:]) { $1 }
        let hosts = try await Self.hosts(configuration, equipment, redis)
        known.withLockedValue { $0 = hosts }
        let doors = Hosts(count: hosts.count) { hosts[$0].port }
        let room = try naming.conversation("room")
        let observers = try await Self.observers(of: hosts, doors, tokens, in: room)
        let readers = zip(hosts, observers).map { host, observer in
            Reader(host: host, observer: observer) { state.withLockedValue { $0.users } }
        }
        (self.redis, self.hosts, self.doors) = (redis, hosts, doors)
        (self.room, self.naming, self.isStill) = (room, naming, equipment.isStill)
        (self.app, self.issuer) = (app, issuer)
        (self.tokens, self.eventReaders) = (tokens, eventReaders)
        (self.observers, self.state, self.readers) = (observers, state, readers)
        reading = Task {
            await withDiscardingTaskGroup { group in
                for reader in readers { group.addTask { await reader.run() } }
                if let eventReaders { group.addTask { await eventReaders.followed.follow() } }
            }
        }
        if equipment.isWarm { try await Task.sleep(for: settings.lease * 1.2) }
    }

    private static func hosts(
        _ configuration: [String: String], _ equipment: Equipment, _ redis: RedisControl
    ) async throws -> [Host] {
        var hosts: [Host] = []
        for number in 0..<hostCount {
            hosts.append(
                try await Host(
                    number, redis: redis, settings: configuration,
                    environment: try equipment.clocks[number].map(WrongClock.environment(offBy:)) ?? [:],
                    hasDoor: equipment.hasDoors))
        }
        try await withThrowingDiscardingTaskGroup { group in
            for host in hosts { group.addTask { try await host.start() } }
        }
        return hosts
    }

    private static func observers(
        of hosts: [Host], _ doors: Hosts, _ tokens: Harness.TokenSource, in room: ConversationID
    ) async throws -> [Roamer] {
        var observers: [Roamer] = []
        for host in hosts {
            let observer = try await Roamer(
                UserID("observer\(host.number)"), "screen", manner: .returnsHome, tokens: tokens, hosts: doors)
            try await observer.come(to: host.number)
            try await observer.ask(.join(room, presence: false, here: true))
            observers.append(observer)
        }
        return observers
    }

    /// Stops everything.
    func strike() async {
        reading.cancel()
        for host in hosts { _ = try? await host.kill() }
        try? await redis.kill()
        await reading.value
        if let secret = eventReaders?.secret { try? FileManager.default.removeItem(at: secret) }
    }

    // MARK: Users

    /// Creates a user whom all observers watch and all readers read, with a device that is not connected yet.
    ///
    /// - Parameter visits: whether the device has the room open whenever it is connected.
    func person(
        _ name: String, _ device: String = "phone", state: DeviceState = .active,
        manner: Roamer.Manner = .returns, visits: Bool = true
    ) async throws -> Roamer {
        let user = try naming.user(name)
        let isKnown = self.state.withLockedValue { state in
            defer { if !state.users.contains(user) { state.users.append(user) } }
            return state.users.contains(user)
        }
        if !isKnown { try await watch([user]) }
        let roamer = try await extra(name, device, state: state, manner: manner)
        guard visits else { return roamer }
        self.state.withLockedValue { _ = $0.plan.visitors.insert(user) }
        try await roamer.say(.join(room, presence: false))
        try await roamer.say(.enter(room))
        return roamer
    }

    /// Creates a user who is neither watched nor read yet.
    func extra(
        _ name: String, _ device: String = "phone", state: DeviceState = .active,
        manner: Roamer.Manner = .returns
    ) async throws -> Roamer {
        let roamer = try await Roamer(
            naming.user(name), naming.device(device, of: name), state: state, manner: manner, tokens: tokens,
            hosts: doors)
        self.state.withLockedValue { $0.roamers.append(roamer) }
        return roamer
    }

    /// Lets all observers watch these users from now on.
    func watch(_ users: [UserID]) async throws {
        for observer in observers { try await observer.ask(.watch(users)) }
    }

    /// Returns what observers were shown so far.
    func sights(until end: Moment) -> [Sight] {
        zip(hosts, observers).map {
            Sight(of: $1.notes, on: $0.number, expiry: settings.expiry, until: end)
        }
    }

    /// Waits until all observers see these, before the fault begins.
    func see(_ things: [Expectation.Thing]) async throws {
        let things = state.withLockedValue { $0.plan.with(things) }
        try await eventually("observers see \(things)", within: .seconds(10), every: .milliseconds(20)) {
            let now = Moment.now
            return sights(until: now).allSatisfy { sight in things.allSatisfy { sight.settled($0, by: now) != nil } }
        }
    }
}
