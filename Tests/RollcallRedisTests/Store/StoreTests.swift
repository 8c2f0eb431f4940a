// What neither the golden stories nor the contract with the twin can show: a full Redis, large conversations, keys and
// records of others, reads that partly fail, and the reports for operators.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

/// What must be possible while Redis is full.
enum Deed: CaseIterable {
    case begin, renew, end, list, unlist, write, remove, stop, stopOneOfTwo, claim, sweep, forget, revoke

    /// Writes what must exist before Redis is full.
    func prepare(_ store: StoreUnderTest) async throws {
        switch self {
        case .begin, .list, .write, .forget, .revoke: break
        case .renew, .end: try await store.beat(.begin, w1)
        case .unlist, .claim: try await store.record([Session("aa").name])
        case .remove, .sweep: try await store.write(Session("aa").says(.active, 1))
        case .stop: try await store.signal(alice, phone)
        case .stopOneOfTwo: for device in [phone, tablet] { try await store.signal(alice, device) }
        }
    }

    func happens(_ store: StoreUnderTest) async throws -> Bool {
        switch self {
        case .begin: try await store.beat(.begin, w1).held
        case .renew: try await store.beat(.renew, w1).held
        case .end: try await store.beat(.end(after: .zero), w1).held
        case .list: try await store.record([Session("aa").name])
        case .unlist: try await store.call { $0.unrecord([.session(Session("aa").name)], of: w1, reply: $1) } == ()
        case .write: try await store.write(Session("aa").says(.active, 1)).outcome == .written
        case .remove: try await store.write(Session("aa").says(nil, 2)).outcome == .written
        case .stop, .stopOneOfTwo: try await store.stop(alice, phone) == .stopped
        case .claim: try await store.claim(limit: 5) == [.session(Session("aa").name)]
        case .sweep: try await store.sweep(Session("aa").name, lastBeat: nil) == .swept
        case .forget: try await store.forget(w1)
        case .revoke: try await store.call { $0.revokeTokens(of: alice, reply: $1) } > Timestamp(milliseconds: 0)
        }
    }
}

@Suite(.serialized) struct StoreTests {
    private let aa = Session("aa").name

    // MARK: A full Redis

    /// Makes Redis refuse everything that needs memory.
    private func shown(_ snapshot: PresenceSnapshot) -> [Presence] {
        snapshot.records.map { $0.presence(past: snapshot.standings) }
    }

    private func fill(_ store: StoreUnderTest) async throws {
        try await store.command("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1")
        let error = await #expect(throws: RedisError.self) { try await store.command("SET", "any", "thing") }
        #expect(error?.code == .server(kind: "OOM"))
    }

    @Test("what keeps the truth runs on a full Redis", arguments: Deed.allCases)
    func fullRedis(deed: Deed) async throws {
        let store = try await StoreUnderTest()
        try await deed.prepare(store)
        try await fill(store)
        #expect(try await deed.happens(store))
    }

    @Test("what only adds is refused whole by a full Redis")
    func refusedWhole() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice"])
        try await fill(store)
        let before = try await store.dump()
        let signal = await #expect(throws: RedisError.self) { try await store.signal(alice) }
        let members = await #expect(throws: RedisError.self) { try await store.setMembers([bob: "Bob"]) }
        let here = await #expect(throws: RedisError.self) { try await store.here(aa, 1) }
        let told = await #expect(throws: RedisError.self) { try await store.here(nil, 0, lasts: .seconds(60)) }
        let thinks = await #expect(throws: RedisError.self) { try await store.types(1, .begin) }
        #expect([signal, members, here, told, thinks].allSatisfy { $0?.code == .server(kind: "OOM") })
        #expect(try await store.dump() == before)
    }

    /// Regression: whoever came was let in with their data, although the pages said that they were refused.
    @Test("who is here stays and leaves on a full Redis, and what servers have said goes on and ends")
    func hereOnFullRedis() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(typingExpiry: .seconds(60)))
        #expect(try await store.here(aa, 1) == .here)
        #expect(try await store.here(nil, 0, lasts: .seconds(60)) == .here)
        #expect(try await store.types(1, .begin) == .typing)
        try await fill(store)
        #expect(try await store.here(aa, 2) == .here, "another state, or data")
        #expect(try await store.here(Session("bb").name, 1) == .here, "the device has come back")
        #expect(try await store.here(nil, 0, lasts: .seconds(60)) == .here)
        #expect(try await store.types(1, .renew) == .typing)
        #expect(try await store.types(2, .begin) == .typing, "in place of what was said")
        let other = await #expect(throws: RedisError.self) {
            try await store.here(Session("cc", device: tablet).name, 1)
        }
        #expect(other?.code == .server(kind: "OOM"))
        #expect(try await store.here(aa, 3, isHere: false) == .gone)
        #expect(try await store.here(Session("bb").name, 2, isHere: false) == .gone)
        #expect(try await store.types(3, .end) == .typing)
    }

    // MARK: Large conversations

    @Test("thousands of members and typists are read in one call, and of members only as many as wanted")
    func largeConversation() async throws {
        let store = try await StoreUnderTest()
        let users = (0..<9000).map { user("u\($0)") }
        let members = Dictionary(uniqueKeysWithValues: users.map { ($0, "Name of \($0)") })
        try await store.setMembers(members)
        let far = "\(try await store.now().advanced(by: .seconds(60)).milliseconds)"
        for part in stride(from: 0, to: 2500, by: 500) {
            let typists = users[part..<part + 500].flatMap { [far, "\($0) phone"] }
            try await store.command("ZADD", arguments: ["typing:{lounge}"] + typists)
        }
        let all = try await store.room(users: users + [bob], mostMembers: 9000)
        #expect(
            all.members == members.mapValues(ByteString.init) && all.memberCount == 9000 && all.admitted == Set(users))
        #expect(all.typists.map(\.user) == users.prefix(2500).sorted())
        #expect(all.typists.allSatisfy { $0.name == ByteString("Name of \($0.user)") })
        let some = try await store.room(mostMembers: 100)
        #expect((90...100).contains(some.members?.count ?? 0) && some.memberCount == 9000 && some.admitted.isEmpty)
    }

    @Test("a field that is nobody's name is not counted among members that were all read")
    func strangeMember() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([bob: "Bob"])
        try await store.command("HSET", "members:{lounge}", "no {name}", "x")
        #expect(try await store.room(mostMembers: 10).memberCount == 1)
    }

    /// Regression: where Redis answered 2 s late, the deadline of a sweep had always passed when its removals came there.
    @Test("the removals of a sweep have the deadline that counts when they are sent, and not when the sweep began")
    func lateSweep() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.plant("active w1.aaaa 100-bb 7 200 0", user: bob)
        let bobs = Session("bb", user: bob).name
        let past = try await store.now().advanced(by: .milliseconds(-1))
        let gone: Int? = try await store.call { store, reply in
            var until = past
            store.sweep([.session(bobs)], of: w1, until: until, reply: reply)
            until = .never
        }
        #expect(gone == 1)
    }

    /// Regression: all reads after a reconnect went out at once, and the connection was ended for their replies, for ever.
    @Test("reads go out in portions that a Redis with a small limit for a client's replies can hold")
    func portions() async throws {
        let store = try await StoreUnderTest(
            options: ["--client-output-buffer-limit", "normal", "512kb", "256kb", "1"])
        let plant = """
            for i = 1, 4000 do
              redis.call('HSET', 'presence:{u' .. i .. '}', 'status', 'offline', 'version', 7, 'x', string.rep('x', 1800))
            end
            """
        try await store.command("EVAL", plant, "0")
        let before = try await store.command("INFO", "stats").text?.parts(at: "\n").first {
            $0.begins(with: "total_conn")
        }
        let users = try (1...4000).map { try UserID("u\($0)") }
        let read: [PresenceSnapshot] = try await store.call { store, reply in
            let all = Gathering<PresenceSnapshot>(16, reply: reply)
            let known = KnownWorkers()
            for part in 0..<16 {
                store.presence(of: Array(users[250 * part..<250 * (part + 1)]), known: known, reply: all.part(part))
            }
        }
        #expect(read.map { $0.records.count + $0.unread.count } == Array(repeating: 250, count: 16))
        #expect(read.allSatisfy { $0.unread.isEmpty } && read[0].records.map(\.user) == Array(users.prefix(250)))
        let after = try await store.command("INFO", "stats").text?.parts(at: "\n").first {
            $0.begins(with: "total_conn")
        }
        #expect(before == after, "no connection was ended")
    }

    @Test("the window of reads is never larger than its bytes, learns their size, and lets one large read through")
    func window() {
        let window = ReadWindow()
        var open: [(count: Int, done: (Int) -> Void)] = []
        func enter(_ count: Int) { window.enter(.record, count: count) { open.append((count, $0)) } }
        for _ in 0..<10 { enter(window.portion(of: .record)) }
        #expect(open.count == 4 && open[0].count == 32)
        open.removeFirst().done(8192)
        #expect(open.count == 3, "each of the next ones may have a megabyte")
        while let next = open.popLast() { next.done(8192) }
        #expect(window.portion(of: .record) == 8)
        for _ in 0..<200 { enter(1) }
        while let next = open.popLast() { next.done(100) }
        #expect(window.portion(of: .record) > 250)
        enter(1_000_000)
        #expect(open.count == 1)
    }

    // MARK: Keys of others

    @Test("another program's key under a user's name holds up neither a sweep, nor a removal, nor other users' reads")
    func foreignRecord() async throws {
        let store = try await StoreUnderTest()
        try await store.command("SET", "presence:{alice}", "theirs")
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.plant("active w1.aaaa 100-bb 7 200 0", user: bob)
        let bobs = Session("bb", user: bob).name
        try await store.record([aa, bobs])
        let audit = try await store.call { $0.audit([self.aa, bobs], of: w1, reply: $1) }
        #expect(audit.map { $0.record?.session } == [nil, bobs.session])
        #expect(
            try await store.call { $0.sweep([.session(self.aa), .session(bobs)], of: w1, until: .never, reply: $1) }
                == 1)
        #expect(try await store.claim(limit: 5) == [], "nothing keeps the dead from being forgotten")
        let snapshot = try await store.snapshot(of: [alice, bob])
        #expect(snapshot.records.map(\.user) == [alice, bob] && snapshot.records[1].devices[phone]?.state == nil)

        let error = await #expect(throws: RedisError.self) { try await store.write(Session("aa").says(.active, 1)) }
        #expect(error?.isForeignKey == true)
        #expect(try await store.write(Session("aa").says(nil, 2)).outcome == .done)
        try await store.command("SADD", "revoked:{alice}", "theirs")
        let report = try await report(store)
        #expect(report.storedStatus == nil && report.record.devices.isEmpty && report.revoked == nil)
        #expect(try await store.command("GET", "presence:{alice}").text == "theirs")
    }

    @Test("another program's key under a worker's name ends that worker's lease and no other")
    func foreignWorker() async throws {
        let store = try await StoreUnderTest()
        #expect(try await store.beat(.begin, w1, lease: .seconds(60)).held)
        try await store.command("DEL", "{workers}:w1.aaaa")
        try await store.command("SET", "{workers}:w1.aaaa", "theirs")
        await #expect(throws: RedisError.self) { try await store.beat(.renew, w1) }
        #expect(try await store.beat(.begin, w1).held == false)
        #expect(try await store.beat(.begin, w2, lease: .seconds(5)).leases.count == 2)
        try await store.write(Session("aa").says(.active, 1))
        let snapshot = try await store.snapshot(of: [alice])
        #expect(shown(snapshot).map(\.status) == [.online] && snapshot.standings[w1]?.beat == nil)
    }

    // MARK: Later versions

    @Test("a device in a state of a later version is taken over in order, and swept")
    func laterVersion() async throws {
        let store = try await StoreUnderTest()
        let later = "driving w9.zzzz 2000-zz 3 2500 0 fast"
        try await store.plant(later)
        let older = try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(.active, 1))
        #expect(older.outcome == .replaced)
        let newer = try await store.write(Session("bb").says(.active, 1))
        #expect(newer.previous == .init(incarnation: Incarnation(name: "w9.zzzz"), session: "2000-zz"))
        #expect(try await store.record(of: alice).lastSeen == newer.time)

        try await store.plant(later, user: bob)
        let (name, dead) = (Session("zz", user: bob).name, Incarnation(name: "w9.zzzz"))
        #expect(try await store.call { $0.sweep([.session(name)], of: dead, until: .never, reply: $1) } == 1)
        #expect(try await store.hash("presence:{bob}")["device:phone"]?.hasPrefix("gone w9.zzzz 2000-zz 3 ") == true)
        #expect(try await store.record(of: bob).lastSeen == nil, "the state said nothing of the user")
    }

    // MARK: Reads of many users

    @Test("a user who may not be read keeps back nobody else; where nobody can be read, the error says why")
    func partialRead() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.active, 1))
        try await store.command("ACL", "SETUSER", "rollcall", "resetkeys", "~presence:{alice}", "~{workers}*")
        let snapshot = try await store.snapshot(of: [bob, alice])
        #expect(shown(snapshot).map(\.user) == [alice] && shown(snapshot).map(\.status) == [.online])
        #expect(snapshot.unread == [bob])
        let error = await #expect(throws: RedisError.self) { try await store.snapshot(of: [bob]) }
        #expect(error?.code == .server(kind: "NOPERM"))

        // If it were answered for each of its commands, the promise in `call` would trap.
        store.redis.process.kill()
        try await eventually("the loss is noticed") {
            await #expect(throws: RedisError.self) { try await store.snapshot(of: [bob, alice]) } != nil
        }
    }

    /// Records of this version, of later versions and invalid ones.
    @Test("a record comes to the same whether its devices are counted or listed")
    func countedOrListed() async throws {
        let store = try await StoreUnderTest()
        let states = ["active", "idle", "background", "gone", "driving", ""]
        let rests = ["5-b 1 2 0", "5-b 1 2 9", "5-b 1 2 0 more words", "5b 1 2 0", "5-b 1 2", "5- 1 2 0", "5-b +1 2 x"]
        var random = SeededGenerator(seed: 7)
        for round in 0..<60 {
            try await store.command("DEL", "presence:{alice}")
            for number in 0..<Int.random(in: 1...4, using: &random) {
                let words = [
                    states.randomElement(using: &random)!, [w1, w2].randomElement(using: &random)!.name.string,
                    rests.randomElement(using: &random)!,
                ]
                try await store.command(
                    "HSET", "presence:{alice}", "device:d\(number)", words.joined(separator: " "), "version", "7",
                    "last_seen", ["5", "-5", "x", ""].randomElement(using: &random)!, "shiny", "new")
            }
            let all = try await store.record(of: alice)
            let counted = try await store.snapshot(of: [alice], known: KnownWorkers(living: [w1])).records[0]
            #expect(counted == all.counting([w1]), "round \(round)")
            #expect(counted.presence(past: [:]) == all.presence(past: [:]), "round \(round)")
        }
    }

    // MARK: Operators

    private func report(_ store: StoreUnderTest) async throws -> UserReport {
        try await store.call { $0.report(on: alice, own: w1, reply: $1) }
    }

    private func erase(_ store: StoreUnderTest) async throws -> Bool {
        let report = try await report(store)
        return try await store.call { $0.erase(report, reply: $1) }
    }

    @Test("a report has the record, and what each worker in it says of itself")
    func report() async throws {
        let store = try await StoreUnderTest()
        #expect(try await report(store).storedStatus == nil)
        var figures = WorkerFigures()
        for (number, field) in WorkerFigures.fields.enumerated() { figures[keyPath: field.value] = Int64(number + 7) }
        try await store.beat(.begin, w1, lease: .seconds(60), figures: figures)
        try await store.write(Session("aa").says(.active, 1))
        try await store.write(Session("bb", device: tablet, worker: w2).says(.idle, 1))
        let user = try await report(store)
        #expect(user.storedStatus == "online" && user.present.map(\.device) == [phone, tablet])
        #expect(user.workers.workers.map(\.incarnation) == [w1, w2] && user.revoked == nil)
        let first = user.workers.workers[0]
        #expect(first.host == "box" && first.pid == 77 && first.edge == "ws://box/v1/connect" && first.sessions == 9)
        #expect(first.startedAt == Timestamp(milliseconds: 123) && first.version == "0.1.0" && !first.isDraining)
        #expect(first.figures == figures && user.workers.standings[w1]?.isDead == false)
        #expect(user.workers.workers[1].leaseEnd == nil && user.workers.standings[w2]?.isDead == true)

        try await store.beat(.begin, w2, lease: .milliseconds(1), isDraining: true)
        let workers: WorkersReport = try await store.call { $0.workers(reply: $1) }
        #expect(Set(workers.workers.map(\.incarnation)) == [w1, w2], "the dead are reported too")
        #expect(workers.workers.first { $0.incarnation == w2 }?.figures == WorkerFigures())
        let cards: [WorkerCard] = try await store.call { $0.cards(of: [w2, w3, w1], reply: $1) }
        #expect(cards.map(\.isDraining) == [true, false])
    }

    @Test("a user with a session is not erased; one without is, also where the worker has no lease")
    func erasure() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1, lease: .seconds(60))
        try await store.write(Session("aa").says(.active, 1))
        #expect(try await !erase(store))
        #expect(try await report(store).storedStatus == "online")
        try await store.write(Session("aa").says(nil, 2))
        try await store.write(Session("bb", device: tablet, worker: w2).says(.active, 1))
        #expect(try await erase(store))
        #expect(try await store.dump().keys.contains("presence:{alice}") == false)
    }

    /// Regression: the revocation was erased too, and a worker that had been cut off wrote the user again.
    @Test("a session from before does not bring an erased user back")
    func staysErased() async throws {
        let store = try await StoreUnderTest()
        var write = Session("aa", worker: w2).says(.active, 1)
        write.issued = Timestamp(milliseconds: 1)
        try await store.write(write)
        let revoked: Timestamp = try await store.call { $0.revokeTokens(of: alice, reply: $1) }
        #expect(try await erase(store))
        write.sequence = 2
        #expect(try await store.write(write).outcome == .revoked)
        let report = try await report(store)
        #expect(report.storedStatus == nil && report.revoked == revoked)
    }
}
