// The twin behind a shard: what it does about each thing that the shard asks, and what the shard hears of it. Whoever
// drives both says when each happens.

public import RollcallCore
internal import RollcallModel

/// Something that happens to a shard.
public typealias ShardEvent = (inout Shard, Instant) -> [ShardAction]

extension TwinRedis {
    /// Does now what a shard asks.
    ///
    /// - Returns: the event of the answer, which may come later.
    public mutating func reply(to action: ShardAction) -> ShardEvent {
        switch action {
        case .list(let name, let incarnation, let until, let key):
            guard record([name], of: incarnation, until: until) else { return action.failure }
            return { $0.listed(key, under: incarnation, at: $1) }
        case .unlist(let name, let incarnation, let key):
            unrecord([name], of: incarnation)
            return { $0.unlisted(key, under: incarnation, at: $1) }
        case .write(let write, let key):
            let written = self.write(write)
            return { $0.written(written, of: write, for: key, at: $1) }
        case .announceReplaced(let name, let previous):
            announceReplaced(previous, user: name.user, device: name.device)
            return { _, _ in [] }
        case .signalTyping(let signal, let key, let id):
            let outcome = signalTyping(signal)
            return { shard, _ in shard.typingSignalled(outcome, signal, for: key, id: id) }
        case .stopTyping(let stop):
            _ = stopTyping(stop)
            return { shard, _ in shard.typingStopped(stop) }
        case .readRoom(let read, let key):
            let snapshot = room(
                read.conversation, user: read.user, withTyping: read.withTyping, mostMembers: read.mostMembers)
            return { $0.roomRead(read, snapshot, for: key, at: $1) }
        case .readPresence(let users, let isAuthoritative, let known):
            let snapshot = presence(of: users, known: known)
            return { shard, _ in shard.presenceRead(snapshot, isAuthoritative: isAuthoritative) }
        case .getPresence(let users, let known, let key, let id):
            let snapshot = presence(of: users, known: known)
            return { shard, now in shard.gotPresence(snapshot, of: users, for: key, id: id, at: now) }
        case .audit(let sessions, let incarnation):
            let found = audit(sessions.map(\.name), of: incarnation)
            return { $0.audited(sessions, found, of: incarnation, at: $1) }
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe, .unsubscribe, .assertAnew, .sweep:
            preconditionFailure("not asked of Redis: \(action)")
        }
    }
}

extension ShardAction {
    /// That Redis could not be asked, or did not answer.
    public var failure: ShardEvent { failure(.unknown) }

    /// That Redis refused it as a whole.
    public var refusal: ShardEvent { failure(.withoutEffect) }

    private func failure(_ failure: DeviceRecorder.Failure) -> ShardEvent {
        switch self {
        case .list(let name, let incarnation, _, let key):
            { $0.stepFailed(.list(name, under: incarnation), failure, for: key, at: $1) }
        case .unlist(let name, let incarnation, let key):
            { $0.stepFailed(.unlist(name, under: incarnation), failure, for: key, at: $1) }
        case .write(let write, let key):
            { $0.stepFailed(.write(write), failure, for: key, at: $1) }
        case .announceReplaced, .audit:
            { _, _ in [] }
        case .signalTyping(_, let key, let id):
            { shard, _ in shard.signalFailed(for: key, id: id) }
        case .stopTyping(let stop):
            { $0.stopFailed(stop, at: $1) }
        case .readRoom(let read, let key):
            { shard, _ in
                shard.roomReadFailed(read, for: key)
                return []
            }
        case .readPresence(let users, let isAuthoritative, _):
            { shard, _ in
                shard.presenceReadFailed(users, isAuthoritative: isAuthoritative)
                return []
            }
        case .getPresence(let users, _, let key, let id):
            { shard, now in shard.gotPresence(nil, of: users, for: key, id: id, at: now) }
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe, .unsubscribe, .assertAnew, .sweep:
            preconditionFailure("not asked of Redis: \(self)")
        }
    }
}

extension Published {
    /// What a shard hears of it that is subscribed to its topic.
    public var news: ShardEvent {
        switch self {
        case .typing(let change, let conversation):
            { shard, now in
                shard.typingChanged(change, in: conversation, at: now)
                return []
            }
        case .presence(let presence, _):
            { shard, _ in
                shard.presenceChanged(presence)
                return []
            }
        case .members(let change, let conversation):
            { $0.memberChanged(change, in: conversation, at: $1) }
        case .notice(let notice, _):
            { shard, now in
                guard let session = notice.session else { return [] }
                switch notice {
                case .replaced: return shard.replaced(session, at: now)
                case .sentAway: return shard.sentAway(session, at: now)
                }
            }
        }
    }
}
