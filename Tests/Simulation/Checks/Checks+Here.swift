// Who is here: what the sessions that live have entered, in Redis and in what every subscriber was told.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

extension Checks {
    /// Checks it when all activity has ended.
    func checkHere() {
        for conversation in world.conversations {
            let stored = world.redis.twin.here[conversation] ?? [:]
            checkStored(stored, in: conversation)
            let told = stored.map { HereUser($0, $1.lines, since: $1.since) }.compactMap(\.self)
                .sorted { ($0.since, $0.user) < ($1.since, $1.user) }
            for edge in world.observers { checkTold(told, in: conversation, to: edge) }
        }
        checkEntryLists()
    }

    private func checkStored(_ stored: [UserID: TwinHere], in conversation: ConversationID) {
        var expected: Set<String> = []
        var waiting: Set<SessionID> = []
        for case let device as SimulatedDevice in world.devices {
            guard let edge = device.session, edge.isOpen, let session = edge.session else { continue }
            // One that waits for its user's budget may have more to say.
            if edge.lastWaited == world.agenda.now { waiting.insert(session) }
            let state = world.truth.device(of: edge).states(since: world.agenda.now, until: world.agenda.now)
            guard let data = device.entered[conversation], state != .background,
                let incarnation = edge.worker.incarnation, !waiting.contains(session)
            else { continue }
            expected.insert(line(edge.user, session, state == .idle, data, incarnation))
        }
        let found = Set(
            stored.flatMap { user, here in
                here.lines.filter { !$0.device.isOfServer }.filter {
                    // What a replaced session has entered stays for the grace, for the next one to enter there.
                    let session = SessionName(user: user, device: $0.device, session: $0.session)
                    return !waiting.contains($0.session) && !isReplaced(session, since: world.settings.shard.grace)
                }.map {
                    line(user, $0.session, $0.content.isIdle, $0.content.data, $0.incarnation)
                }
            })
        for user in world.users {
            checkSaid(EntryName(ofServersFor: user, in: conversation), stored[user]?.lines ?? [])
        }
        guard found != expected else { return }
        let (missing, extra) = (expected.subtracting(found).sorted(), found.subtracting(expected).sorted())
        fail("who is here", "in \(conversation) are missing \(missing), and should not be \(extra)")
    }

    /// Checks that what servers have said is there until its end, and not longer.
    private func checkSaid(_ name: EntryName, _ lines: [HereLine]) {
        let (isAllowed, data) = world.bridge.expects(name)
        let line = lines.first { $0.device.isOfServer }
        let what = "of \(ListItem.entry(name).text)"
        if let line, !isAllowed { fail("what servers say", "\(what) \(line.text) is left") }
        if let data, line?.content.data != data { fail("what servers say", "\(what) is \(line?.text ?? "nothing")") }
        guard let line, !world.workers.contains(where: { $0.incarnation == line.incarnation }) else { return }
        fail("what servers say", "\(what) \(line.text) is held by nobody")
    }

    private func line(
        _ user: UserID, _ session: SessionID, _ isIdle: Bool, _ data: HereData?, _ incarnation: Incarnation
    ) -> String {
        "\(user) \(session) \(isIdle ? "idle" : "active") \(data?.text.string ?? "") \(incarnation)"
    }

    private func checkTold(_ all: [HereUser], in conversation: ConversationID, to edge: EdgeSession) {
        guard edge.isOpen, !edge.isBehind, edge.worker.process.isRunning, world.settings.visits,
            !world.clients.contains(where: { $0.session === edge }), let joined = edge.view.joined[conversation],
            joined.typists != nil
        else { return }
        let names = world.settings.shard.hereNames
        var named = Array(all.prefix(names))
        if all.count > names { for index in named.indices { named[index].data = nil } }
        let expected = ServerMessage.Here(conversation: conversation, users: named, count: all.count)
        guard joined.here != expected else { return }
        let (right, wrong) = (
            ServerMessage.here(expected).text, joined.here.map { ServerMessage.here($0).text } ?? "nothing"
        )
        fail(
            "who is here",
            "\(edge.name) was told \(wrong) and not \(right): \(named.map(\.text)), \(joined.here?.users.map(\.text) ?? [])"
        )
    }

    /// Checks that each list names what its worker's sessions have entered, and that nothing else is left.
    private func checkEntryLists() {
        let twin = world.redis.twin
        let lines = twin.here.flatMap { conversation, users in
            users.flatMap { user, here in
                here.lines.map { line in
                    let session = SessionName(user: user, device: line.device, session: line.session)
                    return (line.incarnation, EntryName(session: session, conversation: conversation))
                }
            }
        }
        for (incarnation, entry) in lines where twin.entries[incarnation]?.contains(entry) != true {
            fail("who is here", "\(ListItem.entry(entry).text) is not on the list of \(incarnation)")
        }
        let living = Set(world.workers.compactMap(\.incarnation))
        for (incarnation, entries) in twin.entries.sorted(by: { $0.key.name < $1.key.name })
        where !world.truth.mayLeaveLists || living.contains(incarnation) {
            let names = Set(lines.filter { $0.0 == incarnation }.map(\.1))
            // Their items stay for a lease after that.
            let longest = world.settings.shard.grace + world.settings.lease
            let extra = entries.subtracting(names)
                .filter { !isReplaced($0.session, since: longest) && !world.bridge.mayBeHeld($0) }
                .map { ListItem.entry($0).text }.sorted()
            if let one = extra.first { fail("nothing left behind", "\(one) stays on the list of \(incarnation)") }
        }
    }

    /// Whether another session has had the device for no longer than this, and a second.
    private func isReplaced(_ session: SessionName, since longest: Duration) -> Bool {
        let twin = world.redis.twin
        guard let device = twin.record(of: session.user).devices[session.device] else { return false }
        return device.session != session.session && twin.time.since(device.began) < longest + .seconds(1)
    }
}
