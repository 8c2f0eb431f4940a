// An app's server that says who is here: an agent, or a bridge to another system.

internal import RollcallCore
internal import RollcallProtocol

/// Says from time to time that a user is here, or not any longer, at whichever worker runs.
final class Bridge {
    /// What may be true of one user in one conversation.
    struct Said {
        /// What was acknowledged last; `nil` for an end.
        var data: HereData?
        /// Whether something has come between whose result is unknown.
        var isCertain = true
        /// When all ends that was said to be here.
        var ends = Instant(nanoseconds: 0)
        var at: Instant
        /// When everything ends that any worker was ever told.
        var latest = Instant(nanoseconds: 0)
        /// The number of requests so far.
        var requests = 0
        var isPending = false
    }

    private(set) var said: [EntryName: Said] = [:]
    private unowned let world: World
    private let chance: Chance

    init(_ world: World) {
        self.world = world
        chance = world.deviceChance.fork()
    }

    func begin() {
        world.agenda.after(chance.duration(in: .milliseconds(500)...Duration.seconds(4))) { [self] in
            guard !world.isStill else { return }
            act()
            begin()
        }
    }

    private func act() {
        let workers = world.workers.filter { !$0.process.isDead && !$0.isDraining }
        // The other one has members.
        let name = EntryName(ofServersFor: chance.pick(world.users), in: world.conversations[1])
        guard !workers.isEmpty, mayAsk(name) else { return }
        let (worker, now) = (chance.pick(workers), world.agenda.now)
        var next = said[name] ?? Said(at: now)
        let former = next
        if isLost(next) { next.ends = next.latest }
        next.requests += 1
        (next.isPending, next.isCertain, next.at) = (true, false, now)
        // They end long before the run, or long after it.
        let lasts = chance.pick([Duration.seconds(chance.count(in: 1...5)), .seconds(240)])
        let isEnter = chance.happens(0.7)
        let data = HereData(stored: ByteString("{\"said\":\(next.requests)}"))
        if isEnter { (next.ends, next.latest) = (max(next.ends, now + lasts), max(next.latest, now + lasts)) }
        said[name] = next
        let what = isEnter ? "enters for \(lasts.text)" : "exits"
        world.trace.note("bridge", "\(what) \(ListItem.entry(name).text) at \(worker.name)")
        worker.backend { shard, now, reply in
            if isEnter {
                shard.enter(
                    name.session.user, in: name.conversation, .init(data: data), for: lasts, at: now, reply: reply)
            } else {
                shard.exit(name.session.user, in: name.conversation, at: now, reply: reply)
            }
        } reply: { [self] result in
            answered(result, to: name, next, after: former, isEnter ? data : nil, ends: isEnter ? now + lasts : now)
        }
    }

    /// A command whose reply was lost has no effect after the lease.
    private func mayAsk(_ name: EntryName) -> Bool {
        said[name].map { !$0.isPending || $0.at + world.settings.lease + .seconds(1) < world.agenda.now } ?? true
    }

    private func answered(
        _ result: Result<Void, BackendRefusal>, to name: EntryName, _ asked: Said, after former: Said,
        _ data: HereData?, ends: Instant
    ) {
        world.trace.note("bridge", "\(ListItem.entry(name).text) is answered \(result)")
        guard said[name]?.requests == asked.requests else { return }
        said[name]?.isPending = false
        guard case .success = result else { return }
        // A request before it may still be under way.
        let isClear = !former.isPending
        said[name]?.data = data
        said[name]?.isCertain = isClear
        if isClear { said[name]?.ends = ends }
    }

    /// Whether a worker may still hold it that has not heard that another one was told something else.
    func mayBeHeld(_ name: EntryName) -> Bool { said[name].map { world.agenda.now < $0.latest + .seconds(2) } ?? false }

    /// Whether Redis may have gone back to an older state since. And what it has lost may be written again behind an end.
    private func isLost(_ said: Said) -> Bool {
        world.truth.dataLost.map { $0 + world.settings.judging >= said.at } ?? false
    }

    /// Whether a line may be there, and whether it must.
    func expects(_ name: EntryName) -> (isAllowed: Bool, data: HereData?) {
        guard let said = said[name] else { return (false, nil) }
        let now = world.agenda.now
        guard said.isCertain, !isLost(said) else { return (now < said.ends + .seconds(2) || isLost(said), nil) }
        return (said.data != nil && now < said.ends + .seconds(2), now < said.ends - .seconds(2) ? said.data : nil)
    }
}
