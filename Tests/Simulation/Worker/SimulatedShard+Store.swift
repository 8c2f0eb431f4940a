// What a shard asks of Redis, and how the answers come back to it.

internal import RollcallCore
internal import RollcallModel

extension SimulatedShard {
    func ask(_ action: ShardAction) {
        switch action {
        case .list(let name, let incarnation, let until, let key):
            list(name, under: incarnation, until: until, for: key)
        case .unlist(let name, let incarnation, let key) where world.settings.planted == .neverUnlists:
            step(.unlist(name, under: incarnation), of: key, .success(())) { shard, _, now in
                shard.unlisted(key, under: incarnation, at: now)
            }
        case .unlist(let name, let incarnation, let key):
            store.unrecord([name], of: incarnation) { [self] result in
                step(.unlist(name, under: incarnation), of: key, result) { shard, _, now in
                    shard.unlisted(key, under: incarnation, at: now)
                }
            }
        case .write(let write, let key):
            store.write(write) { [self] result in
                step(.write(write), of: key, result) { $0.written($1, of: write, for: key, at: $2) }
            }
        case .announceReplaced(let name, let previous):
            store.announceReplaced(previous, user: name.user, device: name.device)
        case .signalTyping(let signal, let key, let id): signalTyping(signal, for: key, id: id)
        case .stopTyping(let stop): stopTyping(stop)
        case .readRoom(let read, let key): readRoom(read, for: key)
        case .readPresence(let users, let isAuthoritative, let known):
            if users.count == world.settings.shard.bounds.readBatch { world.bounds.met(.readBatch) }
            readPresence(users, isAuthoritative: isAuthoritative, known: known)
        case .getPresence(let users, let known, let key, let id):
            store.presence(of: users, known: known) { [self] result in
                after { shard, now in shard.gotPresence(try? result.get(), of: users, for: key, id: id, at: now) }
            }
        case .audit(let sessions, let incarnation):
            if sessions.count == world.settings.shard.bounds.auditBatch { world.bounds.met(.auditBatch) }
            store.audit(sessions.map(\.name), of: incarnation) { [self] result in
                guard case .success(let found) = result else { return }
                after { $0.audited(sessions, found, of: incarnation, at: $1) }
            }
        case .send, .sendSparing, .sendSnapshot, .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate,
            .subscribe,
            .unsubscribe, .assertAnew, .sweep:
            preconditionFailure("not a matter of the store")
        }
    }

    private func list(_ name: SessionName, under incarnation: Incarnation, until: Timestamp, for key: SessionKey) {
        store.record(name, of: incarnation, until: until) { [self] result in
            let list = DeviceRecorder.Step.list(name, under: incarnation)
            if case .failure(let failure) = result, failure.effect == .unknown {
                world.truth.listingUntold(name, of: incarnation)
            }
            step(list, of: key, result) { shard, isInTime, now in
                if isInTime { return shard.listed(key, under: incarnation, at: now) }
                return shard.stepFailed(list, .withoutEffect, for: key, at: now)
            }
        }
    }

    private func signalTyping(_ signal: TypingSignal, for key: SessionKey, id: MessageID?) {
        store.signalTyping(signal) { [self] result in
            after { shard, _ in
                switch result {
                case .success(let outcome): shard.typingSignalled(outcome, signal, for: key, id: id)
                case .failure: shard.signalFailed(for: key, id: id)
                }
            }
        }
    }

    private func stopTyping(_ stop: TypingSignal) {
        store.stopTyping(stop) { [self] result in
            after { shard, now in
                switch result {
                case .success: shard.typingStopped(stop)
                case .failure: shard.stopFailed(stop, at: now)
                }
            }
        }
    }

    private func readRoom(_ read: RoomRead, for key: RoomKey) {
        store.room(read) { [self] result in
            after { shard, now in
                if case .success(let snapshot) = result { return shard.roomRead(read, snapshot, for: key, at: now) }
                shard.roomReadFailed(read, for: key)
                return []
            }
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
        _ step: DeviceRecorder.Step, of key: SessionKey, _ result: Result<Value, RedisFailure>,
        _ event: (inout Shard, Value, Instant) -> [ShardAction]
    ) {
        after { shard, now in
            switch result {
            case .success(let value): return event(&shard, value, now)
            case .failure(let failure): return shard.stepFailed(step, failure.effect, for: key, at: now)
            }
        }
    }
}
