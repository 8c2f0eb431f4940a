// A single shard whose requests an in-memory Redis answers at once, on a clock that is moved by hand.

import RedisTwin
import RollcallClient
import RollcallCore
import RollcallModel

final class ShardStage {
    private var shard: Shard
    private var now = Instant(nanoseconds: 0)
    private var redis = TwinRedis(time: Timestamp(milliseconds: 1_784_600_000_000))

    init() {
        var settings = ShardSettings()
        // Thousands of calls come from one client.
        settings.limits.messageRate = .max
        settings.limits.messageBurst = .max
        settings.presenceCoalesce = .zero
        shard = Shard(settings: settings, worker: "w1", random: SystemRandomNumberGenerator())
        let incarnation = Incarnation(name: "w1.1")
        let (time, lease) = (redis.time, Duration.seconds(3600))
        let leases = redis.heartbeat(.begin(incarnation), lease: lease)
        settle(
            shard.incarnationBegan(
                incarnation, isFirst: true, leases, until: time.advanced(by: lease),
                clock: RedisClock(time: time, sent: now), at: now))
    }

    // MARK: Preparation

    /// Connects a device, and waits until its presence is written.
    func enter(_ user: UserID) -> RollcallCore.Session {
        let key = shard.connected(at: now)
        say(.hello(.init(token: user.bytes, device: "phone", state: .active)), on: key)
        return key
    }

    func say(_ message: ClientMessage, on key: RollcallCore.Session) {
        settle(received(ClientRequest(message, id: nil), on: key))
    }

    /// Performs these actions and everything that follows from them.
    func settle(_ actions: [ShardAction] = []) {
        var actions = actions
        repeat {
            actions = actions.flatMap { answer($0) } + tickEnded()
        } while !actions.isEmpty || shard.hasMoreToTell
    }

    private func answer(_ action: ShardAction) -> [ShardAction] {
        switch action {
        case .send, .sendSparing, .sendSnapshot, .hold, .listen, .unsubscribe, .sweep: []
        case .close, .limitHit, .assertAnew: preconditionFailure("the shard is not content: \(action)")
        case .tellWhenDrained(let key): shard.caughtUp(key, at: now)
        case .authenticate(let key, let token, _, let id):
            shard.authenticated(key, user: try! UserID(token), device: "phone", id: id, at: now)
        case .subscribe(let topic): shard.subscribed(topic, at: now)
        case .store(let request): redis.reply(to: request)(shard, now)
        }
    }

    // MARK: Measured operations

    func pass(_ duration: Duration) { now = now + duration }

    func passToNextDeadline() { now = shard.nextDeadline ?? now }

    func received(_ request: ClientRequest, on key: RollcallCore.Session) -> [ShardAction] {
        shard.received(request, on: key, at: now)
    }

    func heard(of user: UserID, typing: Bool, in conversation: ConversationID) {
        heard(
            TypingChange(user: user, typing: typing, expiresIn: typing ? 3000 : nil, at: shard.redisTime(at: now)),
            in: conversation)
    }

    func heard(_ change: TypingChange, in conversation: ConversationID) {
        shard.typingChanged(change, in: conversation, at: now)
    }

    func heard(of user: UserID, status: PresenceStatus) {
        let time = shard.redisTime(at: now)
        shard.presenceChanged(
            PresenceChange(
                Presence(
                    user: user, status: status, lastSeen: time, updatedAt: time, version: time.milliseconds)), at: now)
    }

    func timePassed() -> [ShardAction] { shard.timePassed(at: now) }

    func tickEnded() -> [ShardAction] { shard.tickEnded(at: now) }
}
