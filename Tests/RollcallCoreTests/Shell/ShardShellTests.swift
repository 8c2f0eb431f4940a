import RollcallModel
import TestSupport
import Testing

@testable import RollcallCore

/// A host whose Redis refuses every request before the call returns, as a connection that is away does.
private final class RefusingHost: ShardHost {
    let shell: ShardShell
    let now = at(.zero)
    private(set) var done: [ShardAction] = []
    private(set) var ticks = 0
    private(set) var wakes: [Instant] = []
    /// How many calls of ``carryOut(_:)`` have not returned.
    private var depth = 0
    private(set) var deepest = 0

    init() {
        shell = ShardShell(
            Shard(settings: .uncoalesced, worker: "w1", random: SeededGenerator(seed: 1)))
        shell.host = self
    }

    func carryOut(_ action: ShardAction) {
        depth += 1
        defer { depth -= 1 }
        deepest = max(deepest, depth)
        done.append(action)
        if case .store(let request) = action {
            shell.after { request.question?.failed(.withoutEffect, by: $0, at: $1) ?? [] }
        }
    }

    func endTickSoon() { ticks += 1 }
    func wake(at instant: Instant) { wakes.append(instant) }
    func received(_ notice: WorkerNotice) { shell.noticed(notice) }

    func enter(_ user: UserID) -> Session {
        let key = shell.shard.connected(at: now)
        shell.after { $0.received(ClientRequest(.hello(.init(token: "t", device: "phone"))), on: key, at: $1) }
        shell.after { $0.authenticated(key, user: user, device: "phone", id: nil, at: $1) }
        return key
    }

    func begin() {
        let snapshot = LeaseSnapshot(held: true, time: Timestamp(milliseconds: 1000), leases: [:])
        let clock = RedisClock(time: snapshot.time, sent: now)
        shell.told(
            .began(
                Incarnation(name: "w1.a"), isFirst: true, snapshot, until: snapshot.time.advanced(by: .seconds(4)),
                clock: clock))
    }
}

@Suite("What drives a shard")
struct ShardShellTests {
    @Test("what follows from a reply that comes at once is done after what the same event wanted before it")
    func order() {
        let host = RefusingHost()
        host.begin()
        let key = host.enter("alice")
        let first = host.done.count
        // Two requests of one event: the refusal of the first has an error as its consequence.
        host.shell.after { shard, now in
            shard.received(ClientRequest(.get(["bob"]), id: "1"), on: key, at: now)
                + shard.received(ClientRequest(.get(["carol"]), id: "2"), on: key, at: now)
        }
        let kinds = host.done.dropFirst(first).map { action in
            switch action {
            case .store(.getPresence): "asked"
            case .send(.error(let error), _): error.id == "1" ? "first refused" : "second refused"
            default: "\(action)"
            }
        }
        #expect(kinds == ["asked", "asked", "first refused", "second refused"])
    }

    @Test("ten thousand refusals at once do not nest")
    func depth() {
        let host = RefusingHost()
        for number in 0..<10_000 { _ = host.enter(try! UserID("u\(number)")) }
        host.begin()
        #expect(host.deepest == 1)
        let listed = host.done.compactMap { action in
            if case .store(.list(let list)) = action { list.sessions.count } else { nil }
        }
        #expect(listed == Array(repeating: 1000, count: 10), "sessions are listed a thousand at a time")
    }

    @Test("the end of a tick is asked for once, whatever happens in it")
    func tick() {
        let host = RefusingHost()
        host.begin()
        _ = host.enter("alice")
        _ = host.enter("bob")
        #expect(host.ticks == 1)
        host.shell.endTick()
        host.shell.after { _, _ in [] }
        #expect(host.ticks == 2)
    }

    @Test("the host is asked to wake the shard once for each deadline, and again after it")
    func wake() {
        let host = RefusingHost()
        host.begin()
        _ = host.enter("alice")
        let wakes = host.wakes
        #expect(!wakes.isEmpty)
        for _ in 0..<10 { host.shell.after { _, _ in [] } }
        #expect(host.wakes == wakes, "the deadline is the same")
        host.shell.timePassed()
        #expect(host.wakes.count == wakes.count + 1 && host.wakes.last == host.shell.shard.nextDeadline)
    }
}
