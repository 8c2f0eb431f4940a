// How the simulated Redis is asked for what a shard wants of it.

internal import RollcallCore
internal import RollcallModel

extension SimulatedShard {
    func ask(_ request: StoreRequest) {
        switch request {
        case .list(let list):
            store.record(list.sessions.map(\.name), of: list.incarnation, until: list.until) { [self] in
                if case .failure(let failure) = $0, failure.effect == .unknown {
                    for session in list.sessions { world.truth.listingUntold(session.name, of: list.incarnation) }
                }
                answered(list, $0)
            }
        case .unlist(let unlist) where world.settings.planted == .neverUnlists:
            answered(unlist, .success(()))
        case .unlist(let unlist):
            store.unrecord([unlist.name], of: unlist.incarnation) { [self] in answered(unlist, $0) }
        case .write(let write):
            store.write(write.write) { [self] in answered(write, $0) }
        case .announceReplaced(let name, let previous):
            store.announceReplaced(previous, user: name.user, device: name.device)
        case .signalTyping(let signalling):
            store.signalTyping(signalling.signal, isOpen: signalling.isOpen) { [self] in answered(signalling, $0) }
        case .stopTyping(let stopping):
            store.stopTyping(stopping.stop) { [self] in answered(stopping, $0) }
        case .readRoom(let reading):
            store.room(reading.read) { [self] in answered(reading, $0) }
        case .readPresence(let read):
            if read.users.count == world.settings.shard.bounds.readBatch { world.bounds.met(.readBatch) }
            store.presence(of: read.users, known: read.known) { [self] in answered(read, $0) }
        case .getPresence(let get):
            store.presence(of: get.users, known: get.known) { [self] in answered(get, $0) }
        case .audit(let audit):
            if audit.sessions.count == world.settings.shard.bounds.auditBatch { world.bounds.met(.auditBatch) }
            store.audit(audit.sessions.map(\.name), of: audit.incarnation) { [self] in answered(audit, $0) }
        }
    }

    private func answered<Question: StoreQuestion>(
        _ question: Question, _ reply: Result<Question.Answer, RedisFailure>
    ) {
        shell.answered(question, reply.mapError(\.effect))
    }
}
