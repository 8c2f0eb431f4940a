// What a shard asks of Redis, as the real store sends it: one command a script, and several where it sends several.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// The store, over a simulated connection.
struct SimulatedStore {
    typealias Reply<Value> = (Result<Value, RedisFailure>) -> Void

    let commands: CommandLink
    let lease: Duration
    let text: StoreText

    init(commands: CommandLink, settings: SimulationSettings) {
        self.commands = commands
        lease = settings.lease
        text = StoreText(planted: settings.planted)
    }

    func heartbeat(_ beat: LeaseCoordinator.Beat, reply: @escaping Reply<LeaseSnapshot>) {
        let lease = lease
        commands.send(.heartbeat, { $0.heartbeat(beat, lease: lease) }, reply: reply)
    }

    func forget(_ dead: Incarnation, reply: @escaping Reply<Bool>) {
        commands.send(.forget, { $0.forget(dead) }, reply: reply)
    }

    func record(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping Reply<Bool>
    ) {
        commands.send(.list, { $0.record(names, of: incarnation, until: until) }, reply: reply)
    }

    func record(_ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping Reply<Bool>) {
        commands.send(.list, { $0.record(entry, of: incarnation, until: until) }, reply: reply)
    }

    func isRecorded(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping Reply<Bool>) {
        commands.send(.audit, { $0.entries[incarnation]?.contains(entry) == true }, reply: reply)
    }

    func unrecord(_ item: ListItem, of incarnation: Incarnation, reply: @escaping Reply<Void>) {
        commands.send(.unlist, { $0.unrecord([item], of: incarnation) }, reply: reply)
    }

    func write(_ write: HereWrite, reply: @escaping Reply<HereWritten>) {
        commands.send(.writeHere, { $0.write(write) }, reply: reply)
    }

    func lines(of entries: [EntryName], reply: @escaping Reply<[HereLine?]>) {
        commands.send(.audit, { $0.lines(of: entries) }, reply: reply)
    }

    func write(_ write: DeviceWrite, reply: @escaping Reply<DeviceWritten>) {
        commands.send(.write, { $0.write(write) }, reply: reply)
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation, reply: @escaping Reply<[DeviceStanding]>) {
        commands.send(.audit, { $0.audit(names, of: incarnation).map(AuditText.init) }) { result in
            reply(result.map { $0.map(\.standing) })
        }
    }

    func claimSweep(
        of dead: Incarnation, by claimant: Incarnation, reply: @escaping Reply<[ListItem]?>
    ) {
        commands.send(
            .claimSweep,
            { $0.claimSweep(of: dead, by: claimant, limit: Sweeper.batch).map { $0.map(\.memberText) } }
        ) { result in
            reply(result.map { $0.map { $0.compactMap(text.item) } })
        }
    }

    func announce(_ notice: WorkerNotice, to incarnation: Incarnation) {
        commands.send(.announce, { $0.announce(notice, to: incarnation) }) { _ in }
    }

    func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping Reply<TypingOutcome>) {
        commands.send(.signalTyping, { $0.signalTyping(signal, isOpen: isOpen) }, reply: reply)
    }

    func stopTyping(_ stop: TypingSignal, reply: @escaping Reply<TypingStopOutcome>) {
        commands.send(.stopTyping, { $0.stopTyping(stop) }, reply: reply)
    }

    func write(_ write: AccessWrite, reply: @escaping Reply<AccessWritten>) {
        commands.send(.writeAccess, { $0.write(write) }, reply: reply)
    }

    func room(_ read: RoomRead, reply: @escaping Reply<RoomSnapshot>) {
        commands.send(
            .readRoom,
            { twin in
                let snapshot = twin.room(
                    read.conversation, users: read.users, withTyping: read.withTyping, mostMembers: read.mostMembers,
                    mostHere: read.mostHere)
                return (snapshot, read.withTyping ? twin.typingMembers(of: read.conversation) : [])
            }
        ) { result in
            reply(
                result.map { snapshot, members in
                    var snapshot = snapshot
                    snapshot.typists = text.typists(members)
                    return snapshot
                })
        }
    }

    /// Reads the records, and when they have come the standings of those whom they name and who are not known.
    func presence(of users: [UserID], known: KnownWorkers, reply: @escaping Reply<PresenceSnapshot>) {
        commands.send(.readPresence, { twin in users.map { HashText(twin, $0) } }) { result in
            guard case .success(let hashes) = result else { return reply(.failure(RedisFailure())) }
            let living = Set(known.living.map { BytesKey($0.name.string) })
            let records = hashes.map { text.record($0, counting: living) }
            let strangers = known.strangers(in: records)
            let asked = records.filter { $0.person > 0 || $0.presence(past: [:]).isNeverSeen }.map(\.user)
            func answer(_ standings: [Incarnation: WorkerStanding]) {
                let snapshot = PresenceSnapshot(records: records, standings: known.judged(standings))
                guard !asked.isEmpty else { return reply(.success(snapshot)) }
                persons(of: asked) { result in
                    reply(
                        result.map { found in
                            var snapshot = snapshot
                            snapshot.persons = Dictionary(zip(asked, found)) { first, _ in first }
                            return snapshot
                        })
                }
            }
            guard !strangers.isEmpty else { return answer([:]) }
            lookUp(strangers) { result in
                switch result {
                case .success(let standings): answer(standings)
                case .failure(let failure): reply(.failure(failure))
                }
            }
        }
    }

    func write(_ write: PersonWrite, reply: @escaping Reply<PersonWritten>) {
        commands.send(.writePerson, { $0.write(write) }, reply: reply)
    }

    func persons(of users: [UserID], reply: @escaping Reply<[Person?]>) {
        commands.send(.readPerson, { twin in users.map { twin.person(of: $0) } }, reply: reply)
    }

    func personRevisions(of users: [UserID], reply: @escaping Reply<[Int64]>) {
        commands.send(.readPerson, { twin in users.map { twin.personRevisions(of: $0).named } }, reply: reply)
    }

    func standing(of incarnation: Incarnation, reply: @escaping Reply<WorkerStanding>) {
        commands.send(.standing, { $0.standing(of: incarnation) }, reply: reply)
    }

    private func lookUp(
        _ incarnations: [Incarnation], reply: @escaping Reply<[Incarnation: WorkerStanding]>
    ) {
        commands.send(
            .standing,
            { twin in
                Dictionary(uniqueKeysWithValues: incarnations.map { ($0, twin.standing(of: $0)) })
            }, reply: reply)
    }

    /// Looks whether the incarnation is dead, then removes what these items are about, then strikes them off its lists.
    func sweep(
        _ items: [ListItem], of dead: Incarnation, until: @autoclosure @escaping () -> Timestamp,
        reply: @escaping Reply<Bool>
    ) {
        standing(of: dead) { result in
            guard case .success(let standing) = result else { return reply(.failure(RedisFailure())) }
            guard standing.isDead else { return reply(.success(true)) }
            sweep(items, of: dead, lastBeat: standing.beat, until: until(), reply: reply)
        }
    }

    private func sweep(
        _ items: [ListItem], of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp,
        reply: @escaping Reply<Bool>
    ) {
        var missing = items.count
        var outcome: Result<Bool, RedisFailure> = .success(true)
        for item in items {
            commands.send(
                .sweep,
                { twin in
                    switch item {
                    case .session(let name): twin.sweep(name, of: dead, lastBeat: lastBeat, until: until)
                    case .entry(let entry): twin.sweep(entry, of: dead, until: until)
                    }
                }
            ) { result in
                missing -= 1
                switch result {
                case .success(.swept), .success(.kept): break
                case .success(.expired): if case .success = outcome { outcome = .success(false) }
                case .failure(let failure): outcome = .failure(failure)
                }
                guard missing == 0 else { return }
                guard case .success(true) = outcome else { return reply(outcome) }
                strike(items, of: dead, reply: reply)
            }
        }
    }

    /// The real store sends a command for each of the two lists.
    private func strike(_ items: [ListItem], of dead: Incarnation, reply: @escaping Reply<Bool>) {
        commands.send(
            .unlist,
            { twin in
                twin.unrecord(items, of: dead)
                return true
            }, reply: reply)
    }
}
