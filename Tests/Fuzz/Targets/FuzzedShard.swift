// A shard with a twin of Redis, which answers only when told to, and with clients. It checks only that the messages to
// a client are valid and in order.

import Foundation
import RedisTwin
import RollcallModel
import TestSupport

@testable import RollcallCore

struct FuzzedShard {
    private(set) var shard: Shard
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    /// What the shard asked of Redis that is not answered yet.
    var asked: [StoreRequest] = []
    private var topics: Set<Topic> = []
    private var unconfirmed: [Topic] = []
    private var connected: [Session] = []
    private var stalled: Set<Session> = []
    private var awaitDrain: [Session] = []
    private var incarnations = 0
    private var incarnation: Incarnation?

    init() {
        var settings = ShardSettings()
        settings.limits.watchedUsers = 4
        settings.limits.joinedConversations = 2
        settings.limits.messageBurst = 20
        shard = Shard(settings: settings, worker: "w", random: SeededGenerator(seed: 1))
        redisReturns()
    }

    mutating func event(_ event: ShardEvent) {
        carryOut(event(shard, now))
        for _ in 0..<100 {
            carryOut(shard.tickEnded(at: now))
            guard shard.hasMoreToTell else { return }
        }
        expect(false, "it has ever more to tell")
    }

    private mutating func carryOut(_ actions: [ShardAction]) {
        for action in actions {
            switch action {
            // Messages to closed connections are dropped, as in a worker.
            case .send, .sendSparing, .sendSnapshot, .hold, .listen, .limitHit, .assertAnew, .sweep: break
            case .tellWhenDrained(let key): awaitDrain.append(key)
            case .close(let key, _):
                expect(connected.contains(key), "a connection is closed twice, or after its end")
                connected.removeAll { $0 == key }
            case .authenticate(let key, let token, let device, let id): authenticate(key, token, device, id)
            case .subscribe(let topic):
                expect(!topics.contains(topic) && !unconfirmed.contains(topic), "subscribed twice: \(topic)")
                unconfirmed.append(topic)
            case .unsubscribe(let topic):
                topics.remove(topic)
                unconfirmed.removeAll { $0 == topic }
            case .store(let request): asked.append(request)
            }
        }
    }

    private mutating func authenticate(_ key: Session, _ token: ByteString, _ device: DeviceID?, _ id: MessageID?) {
        guard let user = try? UserID(token), let device else {
            return carryOut(shard.refused(key, .badToken(because: ""), at: now))
        }
        carryOut(shard.authenticated(key, user: user, device: device, lifetime: .seconds(600), id: id, at: now))
    }
}

// Clients.
extension FuzzedShard {
    mutating func connect() {
        guard connected.count < 8 else { return }
        connected.append(shard.connected(at: now))
    }

    mutating func say(_ text: [UInt8], by number: UInt8) {
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

    mutating func hangUp(_ number: UInt8) {
        guard let key = client(number) else { return }
        connected.removeAll { $0 == key }
        event { $0.disconnected(key, silence: .milliseconds(number), at: $1) }
    }

    mutating func stall(_ number: UInt8) {
        guard let key = client(number), stalled.insert(key).inserted else { return }
        shard.fellBehind(key)
    }

    mutating func read(_ number: UInt8) {
        guard let key = client(number) else { return }
        stalled.remove(key)
        event { $0.caughtUp(key, at: $1) }
    }

    mutating func replace(_ number: UInt8) {
        guard let key = client(number), let name = key.recorder?.name else { return }
        event { $0.replaced(name, at: $1) }
    }

    private func client(_ number: UInt8) -> Session? {
        connected.isEmpty ? nil : connected[Int(number) % connected.count]
    }

    mutating func drain(_ spread: Duration) {
        event { $0.drain(over: spread, at: $1) }
    }

    /// Disconnects all clients, and processes everything that follows from that.
    mutating func empty() {
        while !connected.isEmpty { hangUp(0) }
        redisReturns()
        for _ in 0..<8 {
            for _ in 0..<2000 where !isQuiet { answer() }
            pass(.seconds(3))
        }
        expect(isQuiet, "Redis is asked without end")
        expect(shard.sessionCount == 0, "\(shard.sessionCount) sessions are left of nobody")
        expect(shard.rooms.count == 0 && shard.watches.count == 0, "rooms or watches are left of nobody")
        expect(topics.isEmpty, "subscriptions are left of nobody")
    }
}

// Redis, and time.
extension FuzzedShard {
    private var isQuiet: Bool {
        asked.isEmpty && unconfirmed.isEmpty && awaitDrain.isEmpty && redis.published.isEmpty
    }

    /// Lets the next pending event arrive.
    mutating func answer() {
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
            let action = asked.removeFirst()
            redis.time = redis.time.advanced(by: .milliseconds(1))
            now = now + .milliseconds(1)
            event(redis.reply(to: action))
        }
    }

    mutating func fail() {
        guard !asked.isEmpty else { return }
        event(asked.removeFirst().failure)
    }

    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = shard.nextDeadline, next <= end {
            go(to: max(next, now))
            event { $0.timePassed(at: $1) }
        }
        go(to: end)
        if incarnation != nil { beat() }
    }

    private mutating func go(to instant: Instant) {
        redis.time = redis.time.advanced(by: instant - now)
        now = instant
    }

    private mutating func beat() {
        guard let incarnation else { return }
        let snapshot = redis.heartbeat(.renew(incarnation), lease: .seconds(5))
        guard snapshot.held else { return redisReturns() }
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        event {
            $0.leaseRenewed(of: incarnation, snapshot, until: until, clock: clock, afterGap: false, at: $1)
        }
    }

    mutating func redisReturns() {
        incarnations += 1
        let new = Incarnation(name: ByteString("w.\(incarnations)"))
        incarnation = new
        let snapshot = redis.heartbeat(.begin(new), lease: .seconds(5))
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        let isFirst = incarnations == 1
        event { $0.incarnationBegan(new, isFirst: isFirst, snapshot, until: until, clock: clock, at: $1) }
    }

    mutating func redisGoes() {
        incarnation = nil
        event { $0.redisLost(at: $1) }
        subscriberGoes()
        while !asked.isEmpty { fail() }
    }

    mutating func subscriberGoes() {
        shard.subscriptionsLost()
        unconfirmed += topics.sorted { "\($0)" < "\($1)" }
        topics = []
        redis.published = []
    }

    private mutating func hear(_ published: Published) {
        switch published {
        case .notice: event(published.news)
        case .typing, .presence, .members:
            if topics.contains(published.topic) { event(published.news) }
        }
    }

    mutating func publishUnreadable(about user: String, _ room: String) {
        guard let user = try? UserID(user), let room = try? ConversationID(room) else { return }
        event { shard, _ in
            shard.presenceUnreadable(of: user)
            shard.typingUnreadable(in: room)
            return []
        }
    }

    mutating func setMember(_ user: String, isMember: Bool, of room: String) {
        guard let user = try? UserID(user), let room = try? ConversationID(room) else { return }
        if isMember { redis.setMember(user, name: "N", of: room) } else { redis.removeMember(user, of: room) }
    }
}
