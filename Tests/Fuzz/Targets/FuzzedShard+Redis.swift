// What the twin of Redis does about each thing that the shard asks, and what the shard hears if it does not.

import RedisTwin
import RollcallModel

@testable import RollcallCore

extension FuzzedShard {
    /// What Redis does now, and the event of its answer.
    mutating func reply(to action: ShardAction) -> Event {
        switch action {
        case .list(let name, let incarnation, let until, let key):
            guard redis.record([name], of: incarnation, until: until) else {
                return { shard, now in Self.fail(action, &shard, now) }
            }
            return { $0.listed(key, under: incarnation, at: $1) }
        case .unlist(let name, let incarnation, let key):
            redis.unrecord([name], of: incarnation)
            return { $0.unlisted(key, under: incarnation, at: $1) }
        case .write(let write, let key):
            let written = redis.write(write)
            return { $0.written(written, of: write, for: key, at: $1) }
        case .announceReplaced(let name, let previous):
            let random = previous.session.split(separator: "-").last ?? ""
            let replaced = SessionName(
                user: name.user, device: name.device, session: SessionID(random: String(random)))
            return { $0.replaced(replaced, at: $1) }
        case .signalTyping(let signal, let key, let id):
            let outcome = redis.signalTyping(signal)
            return { shard, _ in shard.typingSignalled(outcome, signal, for: key, id: id) }
        case .stopTyping(let stop, let key, let id):
            _ = redis.stopTyping(stop)
            return { shard, _ in key.map { shard.typingStopped(for: $0, id: id) } ?? [] }
        case .readRoom(let read, let key):
            let snapshot = redis.room(
                read.conversation, user: read.user, withTyping: read.withTyping, mostMembers: read.mostMembers)
            return { $0.roomRead(read, snapshot, for: key, at: $1) }
        case .readPresence(let users, let isAuthoritative, let known):
            let snapshot = redis.presence(of: users, known: known)
            return { shard, _ in shard.presenceRead(snapshot, isAuthoritative: isAuthoritative) }
        case .getPresence(let users, let known, let key, let id):
            let snapshot = redis.presence(of: users, known: known)
            return { shard, _ in shard.gotPresence(snapshot, of: users, for: key, id: id) }
        case .audit(let sessions, let incarnation):
            let found = redis.audit(sessions.map(\.name), of: incarnation)
            return { $0.audited(sessions, found, of: incarnation, at: $1) }
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe,
            .unsubscribe, .sweep:
            fatalError("not asked of Redis: \(action)")
        }
    }

    /// Redis could not be asked.
    static func fail(_ action: ShardAction, _ shard: inout Shard, _ now: Instant) -> [ShardAction] {
        switch action {
        case .list(let name, let incarnation, _, let key):
            return shard.stepFailed(.list(name, under: incarnation), for: key, at: now)
        case .unlist(let name, let incarnation, let key):
            return shard.stepFailed(.unlist(name, under: incarnation), for: key, at: now)
        case .write(let write, let key): return shard.stepFailed(.write(write), for: key, at: now)
        case .signalTyping(_, let key, let id): return shard.signalFailed(for: key, id: id)
        case .stopTyping(let stop, let key, let id): return shard.stopFailed(stop, for: key, id: id)
        case .readRoom(let read, let key): shard.roomReadFailed(read, for: key)
        case .readPresence(let users, let isAuthoritative, _):
            shard.presenceReadFailed(users, isAuthoritative: isAuthoritative)
        case .getPresence(let users, _, let key, let id): return shard.gotPresence(nil, of: users, for: key, id: id)
        case .announceReplaced, .audit: break
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe,
            .unsubscribe, .sweep:
            fatalError("not asked of Redis: \(action)")
        }
        return []
    }
}
