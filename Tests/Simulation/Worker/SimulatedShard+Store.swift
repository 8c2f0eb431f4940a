// The simulated Redis as the store of a shard.

internal import RollcallCore
internal import RollcallProtocol

/// A shard's requests, over its simulated connections.
final class SimulatedShardStore: PresenceStore {
    private let store: SimulatedStore
    private let subscriber: SubscriberLink
    private unowned let world: World
    private unowned let process: Process
    /// Set before the first request.
    unowned var shard: SimulatedShard?
    /// The decisions to exit that were written.
    private var exits: Set<Int64> = []

    init(_ store: SimulatedStore, subscriber: SubscriberLink, in world: World, of process: Process) {
        (self.store, self.subscriber, self.world, self.process) = (store, subscriber, world, process)
    }

    func list(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        ask(commands: 1, reply) { answer in
            store.record(names, of: incarnation, until: until) { [self] in
                if case .failure(let failure) = $0, failure.effect == .unknown {
                    for name in names { world.truth.listingUntold(name, of: incarnation) }
                }
                answer($0)
            }
        }
    }

    func list(
        _ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        ask(commands: 1, reply) { answer in
            guard world.settings.planted != .entriesUnlisted else { return answer(.success(true)) }
            store.record(entry, of: incarnation, until: until, reply: answer)
        }
    }

    func isListed(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping StoreReply<Bool>) {
        ask(commands: 1, reply) { store.isRecorded(entry, of: incarnation, reply: $0) }
    }

    func unlist(_ item: ListItem, of incarnation: Incarnation, reply: @escaping StoreReply<Void>) {
        ask(commands: 1, reply) { answer in
            if case .session = item, world.settings.planted == .neverUnlists { return answer(.success(())) }
            store.unrecord(item, of: incarnation, reply: answer)
        }
    }

    func write(_ write: HereWrite, reply: @escaping StoreReply<HereWritten>) {
        ask(commands: 1, reply) { answer in
            guard !isForgotten(write) else {
                let outcome = write.content == nil ? HereWritten.Outcome.gone : .here
                return answer(.success(HereWritten(outcome: outcome, time: write.until, since: write.since)))
            }
            store.write(write, reply: answer)
        }
    }

    func lines(of entries: [EntryName], reply: @escaping StoreReply<[HereLine?]>) {
        ask(commands: entries.count, reply) { store.lines(of: entries, reply: $0) }
    }

    private func isForgotten(_ write: HereWrite) -> Bool {
        switch world.settings.planted {
        case .exitsOnce: write.content == nil && !exits.insert(write.sequence).inserted
        case .forgetsEntries: write.content != nil && write.since != nil
        case .entriesStay: write.content == nil && edge(of: write)?.isOpen != true
        case .hereInBackground: write.content == nil && edge(of: write)?.isOpen == true
        default: false
        }
    }

    private func edge(of write: HereWrite) -> EdgeSession? {
        world.observers.first { $0.sessionName == write.entry.session }
    }

    func write(_ write: DeviceWrite, reply: @escaping StoreReply<DeviceWritten>) {
        ask(commands: 1, reply) { store.write(write, reply: $0) }
    }

    func write(_ write: PersonWrite, reply: @escaping StoreReply<PersonWritten>) {
        ask(commands: 1, reply) { store.write(write, reply: $0) }
    }

    func persons(of users: [UserID], reply: @escaping StoreReply<[Person?]>) {
        ask(commands: users.count, reply) { store.persons(of: users, reply: $0) }
    }

    func personRevisions(of users: [UserID], reply: @escaping StoreReply<[Int64]>) {
        ask(commands: users.count, reply) { store.personRevisions(of: users, reply: $0) }
    }

    func announce(_ notice: WorkerNotice, to incarnation: Incarnation) {
        shard?.works(Work(commands: 1))
        store.announce(notice, to: incarnation)
    }

    func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping StoreReply<TypingOutcome>) {
        ask(commands: 1, reply) { store.signalTyping(signal, isOpen: isOpen, reply: $0) }
    }

    func stopTyping(_ stop: TypingSignal, reply: @escaping StoreReply<TypingStopOutcome>) {
        ask(commands: 1, reply) { store.stopTyping(stop, reply: $0) }
    }

    func write(_ write: AccessWrite, reply: @escaping StoreReply<AccessWritten>) {
        ask(commands: 1, reply) { store.write(write, reply: $0) }
    }

    func room(_ read: RoomRead, reply: @escaping StoreReply<RoomSnapshot>) {
        ask(commands: 1, reply) { store.room(read, reply: $0) }
    }

    func presence(of users: [UserID], known: KnownWorkers, reply: @escaping StoreReply<PresenceSnapshot>) {
        if users.count == world.settings.shard.bounds.readBatch { world.bounds.met(.readBatch) }
        ask(commands: users.count, reply) { store.presence(of: users, known: known, reply: $0) }
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation, reply: @escaping StoreReply<[DeviceStanding]>) {
        if names.count == world.settings.shard.bounds.auditBatch { world.bounds.met(.auditBatch) }
        ask(commands: 3 * names.count, reply) { store.audit(names, of: incarnation, reply: $0) }
    }

    func subscribe(_ topic: Topic) {
        shard?.works(Work(channels: 1))
        subscriber.subscribe(topic)
        if subscriber.isConfirmed(topic) {
            process.soon { [self] in shard?.after { $0.subscribed(topic, at: $1) } }
        }
    }

    func unsubscribe(_ topic: Topic) {
        shard?.works(Work(channels: 1))
        subscriber.unsubscribe(topic)
    }

    /// A command that cannot be sent fails at once, but its reply must not come inside a call of the shard.
    private func ask<Answer>(
        commands: Int, _ reply: @escaping StoreReply<Answer>,
        _ send: (@escaping SimulatedStore.Reply<Answer>) -> Void
    ) {
        shard?.works(Work(commands: commands))
        send { [self] result in
            let result = result.mapError(\.effect)
            guard shard?.shard.isInEvent == true else { return answered(result, reply) }
            process.soon { [self] in answered(result, reply) }
        }
    }

    private func answered<Answer>(_ result: Result<Answer, StoreFailure>, _ reply: StoreReply<Answer>) {
        reply(result)
        shard?.happened()
    }
}
