// A shard with a twin of Redis, which answers only when told to, and with clients. It checks only that the messages to
// a client are valid and in order.

import Foundation
import RedisTwin
import RollcallProtocol
import TestSupport

@testable import RollcallCore

final class FuzzedShard {
    let shard: Shard
    private let store = TwinStore()
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    /// What the shard asked of Redis that is not answered yet.
    var asked: [TwinStore.Asked] { store.asked }
    private var topics: Set<Topic> = []
    private var unconfirmed: [Topic] = []
    fileprivate var connected: [Session] = []
    private var stalled: Set<Session> = []
    fileprivate var awaitDrain: [Session] = []
    private var state = RedisState(worker: "w", lease: .seconds(5), heartbeat: .seconds(1))
    private var incarnations = 0
    private var incarnation: Incarnation?

    init() {
        var settings = ShardSettings()
        settings.limits.watchedUsers = 4
        settings.limits.joinedConversations = 2
        settings.limits.messageBurst = 20
        shard = Shard(settings: settings, worker: "w", store: store, random: SeededGenerator(seed: 1))
        shard.host = self
        store.onSubscribe = { [unowned self] topic in
            expect(!topics.contains(topic) && !unconfirmed.contains(topic), "subscribed twice: \(topic)")
            unconfirmed.append(topic)
        }
        store.onUnsubscribe = { [unowned self] topic in
            topics.remove(topic)
            unconfirmed.removeAll { $0 == topic }
        }
        redisReturns()
    }

    func event(_ event: ShardEvent) {
        shard.after(event)
        for _ in 0..<100 {
            shard.endTick()
            guard shard.hasMoreToTell else { return }
        }
        expect(false, "it has ever more to tell")
    }
}

extension FuzzedShard: RollcallCore.Host {
    func endTickSoon() {}
    func wake(at _: Instant) {}
    func assertAnew(_: AssertionReason) {}
    func sweep(_: [HeldItem]) {}
    func received(_: WorkerNotice) {}
}

private final class FuzzedClient: Peer {
    private unowned let all: FuzzedShard
    unowned var session: Session!

    init(of all: FuzzedShard) { self.all = all }

    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        guard let user = try? UserID(token), let device else {
            throw ProofRefusal(.badToken(because: ""), endsWelcomed: true)
        }
        return Proof(user: user, device: device, lifetime: .seconds(600))
    }

    // Messages to closed connections are dropped, as in a worker.
    func send(_: Delivery, counting _: Bool) -> Bool { true }
    func spare(_: Delivery) {}
    func tellWhenDrained() { all.awaitDrain.append(session) }
    func hold() {}
    func listen() {}
    func limitHit(_: Limit) {}

    func close(_: SessionEnd) {
        expect(all.connected.contains(session), "a connection is closed twice, or after its end")
        all.connected.removeAll { $0 == session }
    }
}

// Clients.
extension FuzzedShard {
    func connect() {
        guard connected.count < 8 else { return }
        let client = FuzzedClient(of: self)
        let session = shard.connected(client)
        client.session = session
        connected.append(session)
    }

    func say(_ text: [UInt8], by number: UInt8) {
        guard let key = client(number) else { return }
        do {
            let request = try MessageCodec().request(from: Data(text))
            event { $0.received(request, on: key, at: $1) }
        } catch let error as MessageError {
            event { $0.received(error, on: key, at: $1) }
        } catch {
            event { $0.receivedGarbage(on: key, at: $1) }
        }
    }

    func hangUp(_ number: UInt8) {
        guard let key = client(number) else { return }
        connected.removeAll { $0 == key }
        event { $0.disconnected(key, silence: .milliseconds(number), at: $1) }
    }

    func stall(_ number: UInt8) {
        guard let key = client(number), stalled.insert(key).inserted else { return }
        shard.fellBehind(key)
    }

    func read(_ number: UInt8) {
        guard let key = client(number) else { return }
        stalled.remove(key)
        event { $0.caughtUp(key, at: $1) }
    }

    func replace(_ number: UInt8) {
        if let key = client(number) { event { $0.end(key, .replaced, at: $1) } }
    }

    private func client(_ number: UInt8) -> Session? {
        connected.isEmpty ? nil : connected[Int(number) % connected.count]
    }

    func drain(_ spread: Duration) {
        event { $0.drain(over: spread, at: $1) }
    }

    /// Disconnects all clients, and processes everything that follows from that.
    func empty() {
        while !connected.isEmpty { hangUp(0) }
        redisReturns()
        for _ in 0..<8 {
            for _ in 0..<2000 where !isQuiet { answer() }
            pass(.seconds(3))
        }
        expect(isQuiet, "Redis is asked without end")
        expect(shard.sessionCount == 0, "\(shard.sessionCount) sessions are left of nobody")
        expect(shard.roomCount == 0 && shard.watchCount == 0, "rooms or watches are left of nobody")
        expect(topics.isEmpty, "subscriptions are left of nobody")
    }
}

// Redis, and time.
extension FuzzedShard {
    private var isQuiet: Bool {
        asked.isEmpty && unconfirmed.isEmpty && awaitDrain.isEmpty && redis.published.isEmpty
    }

    /// Lets the next pending event arrive.
    func answer() {
        if !awaitDrain.isEmpty {
            let key = awaitDrain.removeFirst()
            if !stalled.contains(key) { event { $0.caughtUp(key, at: $1) } }
        } else if incarnation == nil {
            fail()
        } else if !redis.published.isEmpty {
            hear(redis.published.removeFirst())
        } else if !unconfirmed.isEmpty {
            let topic = unconfirmed.removeFirst()
            topics.insert(topic)
            event { $0.subscribed(topic, at: $1) }
        } else if !asked.isEmpty {
            redis.time = redis.time.advanced(by: .milliseconds(1))
            now = now + .milliseconds(1)
            redis.reply(to: store.asked.removeFirst())()
            event { _, _ in }
        }
    }

    func fail() {
        guard !asked.isEmpty else { return }
        store.asked.removeFirst().fail(.unknown)
        event { _, _ in }
    }

    func pass(_ duration: Duration) {
        let end = now + duration
        while let next = shard.nextDeadline, next <= end {
            go(to: max(next, now))
            event { $0.timePassed(at: $1) }
        }
        go(to: end)
        if incarnation != nil { beat() }
    }

    private func go(to instant: Instant) {
        redis.time = redis.time.advanced(by: instant - now)
        now = instant
    }

    private func beat() {
        guard let incarnation else { return }
        let snapshot = redis.heartbeat(.renew(incarnation), lease: .seconds(5))
        guard snapshot.held else { return redisReturns() }
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        state.renewed(incarnation, snapshot, until: until, clock: clock, afterGap: false, at: now)
        event { [state] in $0.told(.renewed(state, snapshot), at: $1) }
    }

    func redisReturns() {
        incarnations += 1
        let new = Incarnation(name: ByteString("w.\(incarnations)"))
        incarnation = new
        let snapshot = redis.heartbeat(.begin(new), lease: .seconds(5))
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        let isFirst = incarnations == 1
        let lastBeat = state.began(new, isFirst: isFirst, snapshot, until: until, clock: clock, at: now)
        event { [state] in $0.told(.began(state, snapshot, lastBeat: lastBeat), at: $1) }
    }

    func redisGoes() {
        incarnation = nil
        state.lost()
        event { [state] in $0.told(.lost(state), at: $1) }
        subscriberGoes()
        while !asked.isEmpty { fail() }
    }

    func subscriberGoes() {
        shard.subscriptionsLost()
        unconfirmed += topics.sorted { "\($0)" < "\($1)" }
        topics = []
        redis.published = []
    }

    private func hear(_ published: Published) {
        switch published {
        case .notice: event(published.news)
        case .typing, .presence, .person, .members, .here:
            if topics.contains(published.topic) { event(published.news) }
        }
    }

    func publishUnreadable(about user: String, _ room: String) {
        guard let user = try? UserID(user), let room = try? ConversationID(room) else { return }
        event { shard, _ in
            shard.presenceUnreadable(of: user)
            shard.typingUnreadable(in: room)
        }
    }

    func setMember(_ user: String, isMember: Bool, of room: String) {
        guard let user = try? UserID(user), let room = try? ConversationID(room) else { return }
        if isMember { redis.setMember(user, name: "N", of: room) } else { redis.removeMember(user, of: room) }
    }
}
