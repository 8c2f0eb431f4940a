// Executes a shard's requests to Redis.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

extension ShardDriver {
    func ask(_ request: StoreRequest) {
        switch request {
        case .list(let list):
            store.record(list.sessions.map(\.name), of: list.incarnation, until: list.until) { [self] in
                answered(list, $0)
            }
        case .unlist(let unlist):
            store.unrecord([unlist.name], of: unlist.incarnation) { [self] in answered(unlist, $0) }
        case .write(let write):
            store.write(write.write) { [self] in answered(write, $0) }
        case .announceReplaced(let name, let previous):
            store.announceReplaced(previous, user: name.user, device: name.device)
        case .signalTyping(let signalling):
            let sent = NIODeadline.now()
            store.signalTyping(signalling.signal, isOpen: signalling.isOpen) { [self] in
                if case .success(.typing) = $0 { tally.publishing.record(nanoseconds: (.now() - sent).nanoseconds) }
                answered(signalling, $0)
            }
        case .stopTyping(let stopping):
            store.stopTyping(stopping.stop) { [self] in answered(stopping, $0) }
        case .readRoom(let reading):
            let read = reading.read
            store.room(
                read.conversation, users: read.users, withTyping: read.withTyping, mostMembers: read.mostMembers
            ) { [self] in answered(reading, $0) }
        case .readPresence(let read):
            store.presence(of: read.users, known: read.known) { [self] in answered(read, $0) }
        case .getPresence(let get):
            store.presence(of: get.users, known: get.known) { [self] in answered(get, $0) }
        case .audit(let audit):
            store.audit(audit.sessions.map(\.name), of: audit.incarnation) { [self] in
                let before = shell.shard.tally.auditMended
                answered(audit, $0)
                let mended = shell.shard.tally.auditMended - before
                if mended > 0 { logger.warning("an audit repaired records", metadata: ["count": "\(mended)"]) }
            }
        }
    }

    private func answered<Question: StoreQuestion>(
        _ question: Question, _ reply: Result<Question.Answer, RedisError>
    ) {
        shell.answered(
            question,
            reply.mapError { error in
                warn(of: error)
                return error.hadNoEffect ? .withoutEffect : .unknown
            })
    }

    private func warn(of error: RedisError) {
        guard case .server = error.code, !error.isDenied else { return }
        if error.isForeignKey { return problems.warning("a Rollcall key has the wrong type", error) }
        problems.warning("Redis refused a command", error)
    }
}
