// What a shard asks of Redis, and how the answers come back to it.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

extension ShardDriver {
    func ask(_ action: ShardAction) {
        switch action {
        case .list(let name, let incarnation, let until, let key):
            list([(name, key)], under: incarnation, until: until)
        case .unlist(let name, let incarnation, let key):
            store.unrecord([name], of: incarnation) { [self] result in
                step(.unlist(name, under: incarnation), of: key, result) { shard, _, now in
                    shard.unlisted(key, under: incarnation, at: now)
                }
            }
        case .write(let write, let key):
            store.write(write) { [self] result in
                step(.write(write), of: key, result) { shard, written, now in
                    shard.written(written, of: write, for: key, at: now)
                }
            }
        case .announceReplaced(let name, let previous):
            store.announceReplaced(previous, user: name.user, device: name.device)
        case .signalTyping(let signal, let key, let id):
            let sent = NIODeadline.now()
            store.signalTyping(signal) { [self] result in
                if case .success(.typing) = result {
                    tally.publishing.record(nanoseconds: (.now() - sent).nanoseconds)
                }
                after { shard, _ in
                    switch result {
                    case .success(let outcome): shard.typingSignalled(outcome, signal, for: key, id: id)
                    case .failure: shard.signalFailed(for: key, id: id)
                    }
                }
            }
        case .stopTyping(let stop):
            store.stopTyping(stop) { [self] result in
                after { shard, now in
                    switch result {
                    case .success: shard.typingStopped(stop)
                    case .failure: shard.stopFailed(stop, at: now)
                    }
                }
            }
        case .readRoom(let read, let key):
            readRoom(read, for: key)
        case .readPresence(let users, let isAuthoritative, let known):
            readPresence(users, isAuthoritative: isAuthoritative, known: known)
        case .getPresence(let users, let known, let key, let id):
            store.presence(of: users, known: known) { [self] result in
                after { shard, now in shard.gotPresence(try? result.get(), of: users, for: key, id: id, at: now) }
            }
        case .audit(let sessions, let incarnation):
            audit(sessions, of: incarnation)
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe,
            .unsubscribe, .assertAnew, .sweep:
            preconditionFailure("not a matter of the store")
        }
    }

    /// Lists sessions, at most ``ShardDriver/listBatch`` with one command.
    func list(_ sessions: [(name: SessionName, key: SessionKey)], under incarnation: Incarnation, until: Timestamp) {
        store.record(sessions.map(\.name), of: incarnation, until: until) { [self] result in
            after { shard, now in
                sessions.flatMap { name, key in
                    switch result {
                    case .success(true): return shard.listed(key, under: incarnation, at: now)
                    case .success(false):
                        return shard.stepFailed(.list(name, under: incarnation), .withoutEffect, for: key, at: now)
                    case .failure(let error):
                        warn(of: error)
                        return shard.stepFailed(
                            .list(name, under: incarnation), Self.effect(of: error), for: key, at: now)
                    }
                }
            }
        }
    }

    private static func effect(of error: RedisError) -> DeviceRecorder.Failure {
        error.hadNoEffect ? .withoutEffect : .unknown
    }

    private func readRoom(_ read: RoomRead, for key: RoomKey) {
        store.room(
            read.conversation, user: read.user, withTyping: read.withTyping, mostMembers: read.mostMembers
        ) { [self] result in
            after { shard, now in
                switch result {
                case .success(let snapshot): return shard.roomRead(read, snapshot, for: key, at: now)
                case .failure:
                    shard.roomReadFailed(read, for: key)
                    return []
                }
            }
        }
    }

    private func audit(_ sessions: [AuditedSession], of incarnation: Incarnation) {
        store.audit(sessions.map(\.name), of: incarnation) { [self] result in
            guard case .success(let found) = result else { return }
            let before = shard.tally.auditMended
            after { $0.audited(sessions, found, of: incarnation, at: $1) }
            let mended = shard.tally.auditMended - before
            if mended > 0 { logger.warning("an audit mended records", metadata: ["count": "\(mended)"]) }
        }
    }

    private func readPresence(_ users: [UserID], isAuthoritative: Bool, known: KnownWorkers) {
        store.presence(of: users, known: known) { [self] result in
            switch result {
            case .success(let snapshot):
                after { shard, _ in shard.presenceRead(snapshot, isAuthoritative: isAuthoritative) }
            case .failure:
                shard.presenceReadFailed(users, isAuthoritative: isAuthoritative)
            }
        }
    }

    private func step<Value>(
        _ step: DeviceRecorder.Step, of key: SessionKey, _ result: Result<Value, RedisError>,
        _ event: (inout Shard, Value, Instant) -> [ShardAction]
    ) {
        after { shard, now in
            switch result {
            case .success(let value): return event(&shard, value, now)
            case .failure(let error):
                warn(of: error)
                return shard.stepFailed(step, Self.effect(of: error), for: key, at: now)
            }
        }
    }

    /// That a key is not Rollcall's is said once: the session that it concerns tries again with each heartbeat.
    private func warn(of error: RedisError) {
        guard error.isForeignKey, !hasMetForeignKey else { return }
        hasMetForeignKey = true
        logger.warning("a key with a name of Rollcall's is not Rollcall's", metadata: ["reason": "\(error)"])
    }
}
