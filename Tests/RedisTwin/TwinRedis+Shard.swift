// The twin as the store of a shard: the reply to each request, and the events that the shard receives. The test decides
// when each happens.

public import RollcallCore
internal import RollcallModel

extension TwinRedis {
    /// Executes a shard's request now.
    ///
    /// - Returns: The reply event, which the test may deliver later.
    public mutating func reply(to request: StoreRequest) -> ShardEvent {
        switch request {
        case .list(let list):
            return list.answered(record(list.sessions.map(\.name), of: list.incarnation, until: list.until))
        case .unlist(let unlist):
            unrecord([unlist.name], of: unlist.incarnation)
            return unlist.answered(())
        case .write(let write):
            return write.answered(self.write(write.write))
        case .announceReplaced(let name, let previous):
            announceReplaced(previous, user: name.user, device: name.device)
            return { _, _ in [] }
        case .signalTyping(let signalling):
            return signalling.answered(signalTyping(signalling.signal, isOpen: signalling.isOpen))
        case .stopTyping(let stopping):
            return stopping.answered(stopTyping(stopping.stop))
        case .readRoom(let reading):
            let read = reading.read
            return reading.answered(
                room(read.conversation, users: read.users, withTyping: read.withTyping, mostMembers: read.mostMembers))
        case .readPresence(let read):
            return read.answered(presence(of: read.users, known: read.known))
        case .getPresence(let get):
            return get.answered(presence(of: get.users, known: get.known))
        case .audit(let audit):
            return audit.answered(self.audit(audit.sessions.map(\.name), of: audit.incarnation))
        }
    }
}

extension StoreQuestion {
    fileprivate func answered(_ answer: Answer) -> ShardEvent {
        { answered(.success(answer), by: $0, at: $1) }
    }
}

extension StoreRequest {
    /// The event if Redis could not be reached or did not answer.
    public var failure: ShardEvent { failed(.unknown) }

    /// The event if Redis refused the request as a whole.
    public var refusal: ShardEvent { failed(.withoutEffect) }

    private func failed(_ failure: StoreFailure) -> ShardEvent {
        { question?.failed(failure, by: $0, at: $1) ?? [] }
    }
}

extension Published {
    /// The event that a shard receives if it is subscribed to the topic.
    public var news: ShardEvent {
        switch self {
        case .typing(let change, let conversation):
            { shard, now in
                shard.typingChanged(change, in: conversation, at: now)
                return []
            }
        case .presence(let change, _):
            { shard, now in
                shard.presenceChanged(change, at: now)
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
