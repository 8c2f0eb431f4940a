// What must hold when all activity has ended, and when all devices have left.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

extension Checks {
    /// Checks that every record has what the devices decided, under live incarnations, and nothing else.
    func checkRecords() {
        let twin = world.redis.twin
        for user in world.users {
            let record = twin.record(of: user)
            for device in world.truth.devices(of: user) { check(record.devices[device.name.device], of: device) }
            checkName(in: record)
        }
        for user in world.truth.erased.sorted() where world.truth.dataLost == nil {
            if !twin.record(of: user).devices.isEmpty { fail("erased", "\(user) was erased, and has a record") }
        }
        for (incarnation, names) in expectedLists {
            // If the reply to a listing is lost, an extra entry may stay until the worker's incarnation ends.
            let untold = world.truth.untold[incarnation, default: []].subtracting(names)
            let found = (twin.sessions[incarnation] ?? []).subtracting(untold).symmetricDifference(names)
                .map(\.text).sorted()
            if found.isEmpty { continue }
            fail("records", "the list of \(incarnation) is not what it holds: \(found.joined(separator: ", "))")
        }
        checkIncarnations()
        // What was stored before the clock was set back stays as a key, but does not count.
        if twin.typingSets.values.contains(where: {
            $0.read(at: twin.time)?.values.contains(where: twin.counts) == true
        }) {
            fail("nothing stuck", "typing stands in Redis although nobody types")
        }
    }

    /// Checks that refused requests were repeated until they succeeded: each session has the subscriptions that its
    /// device wants.
    func checkFollowed() {
        for device in world.devices {
            // One that waits for its user's budget gets its turn.
            guard let edge = device.session, edge.isOpen, edge.lastWaited != world.agenda.now else { continue }
            let missing =
                device.watched.subtracting(edge.view.watched.keys).map(\.text)
                + device.joined.subtracting(edge.view.joined.keys).map(\.text)
            guard let one = missing.first else { continue }
            return fail("retried until it works", "\(edge.name) does not follow \(one)")
        }
    }

    /// Checks that the record has the name of the latest token that somebody who is seen has shown, or of a later one.
    private func checkName(in record: PresenceRecord) {
        guard world.truth.clockSet == nil else { return }
        let seen = world.truth.devices(of: record.user).compactMap { device -> Token? in
            let states = device.states(since: world.agenda.now, until: world.agenda.now)
            return states.isSubset(of: [.active, .idle]) ? device.connected?.token : nil
        }
        guard let last = seen.max(by: { $0.issued < $1.issued }) else { return }
        let named = world.tokens.filter { $0.user == record.user && $0.issued >= last.issued }
        if !named.contains(where: { $0.profile == record.profile }) {
            fail("names", "\(record.user) showed \(last.profile), and is called \(record.profile)")
        }
    }

    private func check(_ record: DeviceRecord?, of device: DeviceTruth) {
        guard let edge = device.connected else {
            if record?.state != nil { fail("records", "\(device.name.text) is gone and stands as \(record!)") }
            return
        }
        let states = device.states(since: world.agenda.now, until: world.agenda.now)
        guard let record, let session = edge.session, StateSet(record.state) == states,
            record.session == session, record.incarnation == edge.worker.incarnation, record.lost == nil
        else {
            let found = record.map { "\($0)" } ?? "nothing"
            return fail("records", "\(edge.name) is \(states.text) and stands as \(found)")
        }
    }

    private var expectedLists: [(Incarnation, Set<SessionName>)] {
        world.workers.compactMap { worker in
            guard let incarnation = worker.incarnation else { return nil }
            let names = worker.edges.compactMap { edge in
                edge.session.map { SessionName(user: edge.user, device: edge.device, session: $0) }
            }
            return (incarnation, Set(names))
        }
    }

    private func checkIncarnations() {
        let twin = world.redis.twin
        let living = Set(world.workers.compactMap(\.incarnation))
        let lists = world.truth.mayLeaveLists ? [] : Set(twin.sessions.keys)
        let left = Set(twin.leases.keys).union(twin.beats.keys).union(lists).subtracting(living)
        guard let one = left.min(by: { $0.name < $1.name }) else { return }
        fail("nothing left behind", "\(one) is dead and stands in Redis still")
    }

    /// Checks that an inactive world costs only heartbeats and audits, and what joins of refused conversations cost.
    ///
    /// - Parameter rejoins: how many joins of refused conversations clients may have sent since. Each reads the
    ///   conversation once, and once more after it has subscribed.
    func checkIdle(since before: [RedisCommand.Kind: Int], rejoins: Int) {
        for kind in RedisCommand.Kind.allCases where !kind.isRoutine {
            let count = world.redis.executed[kind, default: 0] - before[kind, default: 0]
            // Admissions that end soon are renewed, after a look.
            let renewals = world.app == nil ? 0 : world.observers.count
            let most = kind == .readRoom ? 2 * rejoins + 2 * renewals : kind == .writeAccess ? renewals + rejoins : 0
            if count > most { fail("idle is free", "\(count) × \(kind) while nobody did anything") }
        }
    }

    /// Checks that nothing is left after all devices have left.
    func checkNothingIsLeft() {
        checkRecords()
        checkHere()
        for topic in world.redis.heardTopics {
            if case .worker = topic { continue }
            fail("nothing left behind", "somebody still listens to \(topic.text)")
        }
        for worker in world.workers where worker.sessionCount > 0 {
            fail("nothing left behind", "\(worker.name) still has \(worker.sessionCount) sessions")
        }
    }
}
