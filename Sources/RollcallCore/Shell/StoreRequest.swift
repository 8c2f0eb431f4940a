// What a shard asks of Redis. Each request knows what follows from its reply, so that workers, simulated workers and tests
// need to know only how Redis is asked.

public import RollcallModel

/// Why a request to Redis failed.
public enum StoreFailure: Error, Hashable, Sendable {
    /// Redis did nothing: the request was never sent, or was refused as a whole.
    case withoutEffect
    /// The reply was lost: Redis may have done what it was asked.
    case unknown
}

/// A request to Redis that has a reply.
public protocol StoreQuestion: Hashable {
    associatedtype Answer

    /// Takes the reply, which comes once.
    ///
    /// - Returns: what the shard wants done next.
    func answered(
        _ reply: Result<Answer, StoreFailure>, by shard: Shard, at now: Instant
    ) -> [ShardAction]
}

extension StoreQuestion {
    public func failed(_ failure: StoreFailure, by shard: Shard, at now: Instant) -> [ShardAction] {
        answered(.failure(failure), by: shard, at: now)
    }
}

/// A request to Redis, as data: tests compare them.
public enum StoreRequest: Hashable {
    case list(List)
    case unlist(Unlist)
    case write(Write)
    /// Tell the worker that held this device's earlier session. Nothing waits for a reply.
    case announceReplaced(SessionName, previous: DeviceWritten.PreviousSession)
    case signalTyping(SignalTyping)
    case stopTyping(StopTyping)
    case readRoom(ReadRoom)
    case readPresence(ReadPresence)
    case getPresence(GetPresence)
    case audit(Audit)

    /// Itself, if it has a reply.
    public var question: (any StoreQuestion)? {
        switch self {
        case .list(let question): question
        case .unlist(let question): question
        case .write(let question): question
        case .announceReplaced: nil
        case .signalTyping(let question): question
        case .stopTyping(let question): question
        case .readRoom(let question): question
        case .readPresence(let question): question
        case .getPresence(let question): question
        case .audit(let question): question
        }
    }
}

extension StoreRequest {
    /// Put sessions on an incarnation's list. The answer is false if that came too late and had no effect.
    public struct List: StoreQuestion {
        public struct Entry: Hashable {
            public let name: SessionName
            let session: Session
        }

        public internal(set) var sessions: [Entry]
        public let incarnation: Incarnation
        /// By Redis's clock: later, the request does nothing.
        public let until: Timestamp

        public func answered(
            _ reply: Result<Bool, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            sessions.flatMap { entry in
                let step = DeviceRecorder.Step.list(entry.name, under: incarnation)
                return switch reply {
                case .success(true): shard.listed(entry.session, under: incarnation, at: now)
                case .success(false): shard.stepFailed(step, .withoutEffect, for: entry.session, at: now)
                case .failure(let failure): shard.stepFailed(step, failure, for: entry.session, at: now)
                }
            }
        }
    }

    /// Take a session off an incarnation's list.
    public struct Unlist: StoreQuestion {
        public let name: SessionName
        public let incarnation: Incarnation
        let session: Session

        public func answered(
            _ reply: Result<Void, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            switch reply {
            case .success: shard.unlisted(session, under: incarnation, at: now)
            case .failure(let failure):
                shard.stepFailed(.unlist(name, under: incarnation), failure, for: session, at: now)
            }
        }
    }

    /// Write a device's state.
    public struct Write: StoreQuestion {
        public let write: DeviceWrite
        let session: Session

        public func answered(
            _ reply: Result<DeviceWritten, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            switch reply {
            case .success(let written): shard.written(written, of: write, for: session, at: now)
            case .failure(let failure): shard.stepFailed(.write(write), failure, for: session, at: now)
            }
        }
    }

    public struct SignalTyping: StoreQuestion {
        public let signal: TypingSignal
        /// Whether the session may type there while the conversation has no members.
        public let isOpen: Bool
        let session: Session
        let id: MessageID?

        public func answered(
            _ reply: Result<TypingOutcome, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            switch reply {
            case .success(let outcome): shard.typingSignalled(outcome, signal, for: session, id: id)
            case .failure: shard.signalFailed(for: session, id: id)
            }
        }
    }

    public struct StopTyping: StoreQuestion {
        public let stop: TypingSignal

        public func answered(
            _ reply: Result<TypingStopOutcome, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            switch reply {
            case .success: shard.typingStopped(stop)
            case .failure: shard.stopFailed(stop, at: now)
            }
        }
    }

    /// Read a conversation for those who join it or are in it.
    public struct ReadRoom: StoreQuestion {
        public let read: RoomRead
        let room: Room

        public func answered(
            _ reply: Result<RoomSnapshot, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            guard case .success(let snapshot) = reply else {
                shard.roomReadFailed(read, for: room)
                return []
            }
            return shard.roomRead(read, snapshot, for: room, at: now)
        }
    }

    /// Read watched users, and the leases of the workers that their records name and that are not `known`.
    public struct ReadPresence: StoreQuestion {
        public let users: [UserID]
        /// Whether what is read counts, whatever its version.
        public let isAuthoritative: Bool
        public let known: KnownWorkers

        /// - Parameter isAuthoritative: whether what is read counts, whatever its version.
        package init(_ users: [UserID], isAuthoritative: Bool, known: KnownWorkers) {
            (self.users, self.isAuthoritative, self.known) = (users, isAuthoritative, known)
        }

        public func answered(
            _ reply: Result<PresenceSnapshot, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            guard case .success(let snapshot) = reply else {
                shard.presenceReadFailed(users, isAuthoritative: isAuthoritative)
                return []
            }
            return shard.presenceRead(snapshot, isAuthoritative: isAuthoritative)
        }
    }

    /// Read users for a client's `get`.
    public struct GetPresence: StoreQuestion {
        public let users: [UserID]
        public let known: KnownWorkers
        let session: Session
        let id: MessageID?

        public func answered(
            _ reply: Result<PresenceSnapshot, StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            shard.gotPresence(try? reply.get(), of: users, for: session, id: id, at: now)
        }
    }

    /// Read what Redis holds of these sessions.
    public struct Audit: StoreQuestion {
        public let sessions: [AuditedSession]
        public let incarnation: Incarnation

        public func answered(
            _ reply: Result<[DeviceStanding], StoreFailure>, by shard: Shard, at now: Instant
        ) -> [ShardAction] {
            switch reply {
            case .success(let found): shard.audited(sessions, found, of: incarnation, at: now)
            case .failure: shard.auditFailed(sessions, at: now)
            }
        }
    }
}
