// Who is here: what sessions enter, what survives a lost connection, and what a room is told, at which pace.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite struct HereStories {
    /// A session that has joined and follows who is here.
    private func joined(
        _ stage: Stage, _ user: UserID, _ device: DeviceID = "phone", here: Bool = true, state: DeviceState = .active
    ) -> Session {
        let session = stage.enter(user, device, state: state)
        stage.say(.join("doc", presence: false, here: here), on: session)
        stage.settle()
        return session
    }

    private func enters(_ stage: Stage, _ session: Session, _ data: String? = nil, id: MessageID? = nil) {
        stage.say(.enter("doc", data: data.map { HereData(stored: ByteString($0))! }), id: id, on: session)
        stage.settle()
    }

    @Test("whoever follows is told at once, and after each change, the receiver included")
    func told() {
        let stage = Stage()
        let alice = joined(stage, "alice")
        let bob = joined(stage, "bob")
        #expect(stage.heard(by: alice).here == ["0:"])
        _ = stage.heard(by: bob)
        enters(stage, alice, #"{"section":4}"#, id: "e")
        #expect(stage.heard(by: alice).here == [#"1: alice{"section":4}"#])
        #expect(stage.heard(by: bob).here == [#"1: alice{"section":4}"#])
        enters(stage, bob)
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).here == [#"2: alice{"section":4} bob"#, #"2: alice idle{"section":4} bob"#])
        let carol = joined(stage, "carol")
        #expect(stage.heard(by: carol).here == [#"2: alice idle{"section":4} bob"#])
        stage.say(.exit("doc"), id: "x", on: alice)
        stage.settle()
        #expect(stage.heard(by: carol).here == ["1: bob"])
        #expect(stage.heard(by: alice).acks == ["x"])
        stage.say(.join("doc", presence: false), on: carol)
        enters(stage, alice)
        #expect(stage.heard(by: carol).here == [], "who no longer follows is not told")
    }

    @Test("entering costs two commands, one of them before the other, and is acknowledged when it is written")
    func cost() {
        let stage = Stage()
        let alice = joined(stage, "alice", here: false)
        stage.forgetWrites()
        _ = stage.heard(by: alice)
        stage.say(.enter("doc"), id: .integer(1), on: alice)
        #expect(stage.asked.map(\.request) == [.listEntry(stage.entry(of: alice, in: "doc"))])
        stage.answer()
        #expect(stage.asked.count == 1 && stage.heard(by: alice).acks == [])
        stage.answer()
        #expect(stage.asked.isEmpty && stage.heard(by: alice).acks == [.integer(1)])
        enters(stage, alice, id: .integer(2))
        #expect(stage.heard(by: alice).acks == [.integer(2)] && stage.asked.isEmpty, "nothing new is not written")
    }

    @Test("an enter waits for its join, an exit takes it back, and a refused join refuses it")
    func pending() {
        let stage = Stage()
        let alice = stage.enter("alice")
        stage.settle()
        stage.say(.enter("doc"), id: .integer(0), on: alice)
        #expect(stage.heard(by: alice).errors == [.notJoined])
        stage.say(.join("doc", presence: false), on: alice)
        for id in Int64(1)...3 { stage.say(.enter("doc"), id: .integer(id), on: alice) }
        stage.say(.exit("doc"), id: .integer(4), on: alice)
        stage.say(.enter("doc"), id: .integer(5), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).acks == [.integer(1), .integer(2), .integer(3), .integer(4), .integer(5)])
        #expect(stage.here == ["alice"])
        stage.redis.setMembers(["bob": ""], of: "closed")
        stage.say(.join("closed", presence: false), on: alice)
        stage.say(.enter("closed"), id: .integer(6), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).contains(.error(id: .integer(6), .notAMember)))
    }

    @Test("a lost connection changes nothing; the end of its grace, a goodbye and a revocation end what was entered")
    func grace() {
        let stage = Stage()
        let bob = joined(stage, "bob")
        let phone = joined(stage, "alice")
        enters(stage, phone)
        stage.drop(phone)
        stage.pass(.seconds(4))
        #expect(stage.here == ["alice"])
        stage.pass(.seconds(2))
        #expect(stage.here == [])
        #expect(stage.heard(by: bob).here == ["0:", "1: alice", "0:"])
        for how in ["goodbye", "leave", "removed", "sent away"] {
            stage.pass(.milliseconds(10))
            let phone = joined(stage, "alice")
            enters(stage, phone)
            #expect(stage.here == ["alice"], "\(how)")
            switch how {
            case "goodbye": stage.say(.goodbye, on: phone)
            case "leave": stage.say(.leave("doc"), on: phone)
            case "removed":
                stage.redis.setMembers(["bob": ""], of: "doc")
            default: stage.event { $0.end(phone, .sentAway, at: $1) }
            }
            stage.settle()
            #expect(stage.here == [], "\(how)")
            stage.redis.deleteMembers(of: "doc")
            stage.settle()
        }
        stage.pass(.seconds(20))
        #expect(stage.redis.entries.isEmpty && stage.shard.entryCount == 0, "nothing is left on the list")
    }

    @Test("over a reload nobody goes; where the new page does not enter, the old entry stays for the grace")
    func reload() {
        let stage = Stage()
        let bob = joined(stage, "bob")
        let old = joined(stage, "alice")
        enters(stage, old, #"{"old":1}"#)
        let new = joined(stage, "alice")
        #expect(stage.closed[old] == .replaced)
        stage.pass(.seconds(3))
        enters(stage, new)
        #expect(stage.heard(by: bob).here == ["0:", #"1: alice{"old":1}"#, "1: alice"])
        #expect(stage.redis.here["doc"]?["alice"]?.lines.count == 1, "the old entry has ended")
        stage.say(.exit("doc"), on: new)
        stage.settle()
        #expect(stage.here == [], "at once, not when the old one would have ended")
        enters(stage, new)
        _ = joined(stage, "alice")
        stage.pass(.seconds(4))
        #expect(stage.here == ["alice"])
        stage.pass(.seconds(2))
        #expect(stage.here == [])
    }

    @Test("a page that says all at once ends what the one before it had entered")
    func atOnce() {
        let stage = Stage()
        enters(stage, joined(stage, "alice"))
        let new = stage.enter("alice")
        stage.say(.join("doc", presence: false), on: new)
        stage.say(.enter("doc"), on: new)
        // Redis answers last to what says who had the device before.
        while !stage.asked.isEmpty {
            if !stage.unconfirmed.isEmpty { stage.confirm() }
            let next = stage.asked.firstIndex { if case .write = $0.request { false } else { true } } ?? 0
            stage.arrives(stage.reply(to: stage.asked.remove(at: next)))
        }
        #expect(stage.redis.here["doc"]?["alice"]?.lines.count == 1)
        stage.say(.goodbye, on: new)
        stage.settle()
        #expect(stage.here == [])
    }

    @Test("a worker that was cut off writes no entry of a device that was elsewhere meanwhile")
    func takenOver() {
        let stage = Stage()
        enters(stage, joined(stage, "alice"))
        stage.redisGoes()
        var write = DeviceWrite(
            name: session("alice", "phone", "newer"), state: .active, incarnation: w2, began: nil, age: .zero,
            opened: stage.redis.time.advanced(by: .seconds(1)), sequence: 1, lost: nil, until: never, issued: nil)
        #expect(stage.redis.write(write).outcome == .written)
        (write.state, write.sequence) = (nil, 2)
        _ = stage.redis.write(write)
        stage.redis.here = [:]
        stage.redisReturns()
        for _ in 0..<20 {
            stage.pass(.milliseconds(300))
            #expect(stage.here == [])
        }
        #expect(stage.shard.entryCount == 0)
    }

    @Test("what was published before the last read, and comes late, changes nothing")
    func lateNews() {
        let stage = Stage()
        let alice = joined(stage, "alice")
        enters(stage, alice)
        let old = HereChange(
            user: "alice", here: nil, count: 0, at: stage.redis.time, sessions: 0, isOwnExit: true)
        stage.pass(.seconds(2))
        let bob = joined(stage, "bob")
        stage.channelGoes(.here("doc"))
        stage.settle()
        stage.redis.published.append(.here(old, in: "doc"))
        stage.settle()
        #expect(stage.heard(by: bob).here == ["1: alice"])
    }

    @Test("a device in the background is not here, and comes back by itself")
    func background() {
        let stage = Stage()
        let bob = joined(stage, "bob")
        let alice = joined(stage, "alice", state: .background)
        _ = stage.heard(by: alice)
        enters(stage, alice, "{}", id: .integer(1))
        #expect(stage.here == [] && stage.heard(by: alice).acks == [.integer(1)])
        stage.say(.state(.active), on: alice)
        stage.settle()
        stage.say(.state(.background), on: alice)
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).here == ["0:", "1: alice{}", "0:", "1: alice idle{}"])
    }

    @Test("of many enters and exits in quick succession, the last one counts")
    func pace() {
        let stage = Stage(ShardSettings())
        let alice = joined(stage, "alice", here: false)
        stage.forgetWrites()
        let before = stage.redisCost.writes
        for number in Int64(1)...200 {
            stage.say(number.isMultiple(of: 2) ? .exit("doc") : .enter("doc"), id: .integer(number), on: alice)
            stage.settle()
            stage.pass(.milliseconds(25))
            if number.isMultiple(of: 40) { stage.heartbeat() }
        }
        stage.pass(.milliseconds(500))
        #expect(stage.here == [])
        stage.say(.enter("doc"), on: alice)
        stage.pass(.seconds(1))
        #expect(stage.here == ["alice"])
        #expect(stage.redisCost.writes - before <= 4 + 12 + 2, "\(stage.redisCost.writes - before)")
        #expect(Set(stage.heard(by: alice).answered).count == 200)
    }

    @Test("limits: the eleventh place, data that is too long; a change of state costs one more for each place")
    func limits() {
        let stage = Stage()
        let alice = stage.enter("alice")
        for number in 0...10 {
            stage.say(.join(room(number), presence: false), on: alice)
            stage.settle()
            stage.say(.enter(room(number)), id: .integer(Int64(number)), on: alice)
            stage.settle()
        }
        #expect(stage.heard(by: alice).errors == [.limit])
        stage.say(.exit(room(0)), on: alice)
        let long = HereData(stored: ByteString("{\"a\":\"\(String(repeating: "x", count: 504))\"}"))!
        #expect(long.text.utf8.count == 512)
        stage.say(.enter(room(10), data: long), id: .integer(1), on: alice)
        let tooLong = HereData(stored: ByteString("{\"a\":\"\(String(repeating: "x", count: 505))\"}"))
        stage.say(.enter(room(10), data: tooLong), id: .integer(2), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).errors == [.limit])
        #expect(stage.limitsHit[alice] == [.enteredConversations, .hereData])
        #expect(ClientMessage.state(.idle).cost(stage.shard.loop.settings.limits, entries: 10) == 11)
        #expect(ClientMessage.join("c", presence: false, here: true).cost(stage.shard.loop.settings.limits) == 2)
    }

    @Test("an exit after an enter whose reply was lost is repeated once that enter can no longer come")
    func lateEnter() {
        let stage = Stage()
        let alice = joined(stage, "alice", here: false)
        stage.say(.enter("doc"), on: alice)
        stage.answer()
        let enter = stage.asked.removeFirst()
        stage.fail(enter)
        stage.say(.exit("doc"), on: alice)
        stage.heartbeat()
        stage.settle()
        // Redis executes it after all.
        stage.reply(to: enter)()
        stage.redis.published = []
        #expect(stage.here == ["alice"])
        stage.pass(.seconds(6))
        #expect(stage.here == [] && stage.redis.entries.isEmpty)
    }

    @Test("a session that enters again within the lease keeps its item on the list")
    func again() {
        let stage = Stage()
        let alice = joined(stage, "alice", here: false)
        enters(stage, alice)
        stage.say(.exit("doc"), on: alice)
        stage.pass(.seconds(3))
        enters(stage, alice)
        stage.pass(.seconds(20))
        #expect(stage.here == ["alice"])
        #expect(stage.redis.entries[stage.incarnation!] == [stage.entry(of: alice, in: "doc")])
    }

    @Test("after an outage entries are written again, and until it has settled nobody goes and the count does not fall")
    func outage() {
        let stage = Stage()
        let (bob, alice) = (joined(stage, "bob"), joined(stage, "alice"))
        enters(stage, alice, "{}")
        enters(stage, bob)
        stage.say(.state(.idle), on: bob)
        stage.settle()
        // Somebody on another worker, whose entry is not written again.
        let carols = EntryName(session: session("carol"), conversation: "doc")
        _ = stage.redis.write(HereWrite(entry: carols, content: .init(), incarnation: w2, sequence: 1, until: never))
        stage.settle()
        _ = stage.heard(by: bob)
        stage.pass(.seconds(60))
        stage.redisGoes()
        stage.redis.flush()
        stage.say(.enter("doc", data: HereData(stored: "{\"now\":1}")), id: .integer(9), on: bob)
        stage.redisReturns()
        stage.pass(.seconds(3))
        #expect(Set(stage.heard(by: bob).here) == [#"3: alice{} bob idle{"now":1} carol"#])
        stage.pass(.seconds(4))
        #expect(stage.heard(by: bob).here == [#"2: alice{} bob idle{"now":1}"#])
        #expect(stage.redis.here["doc"]?["alice"]?.since.milliseconds == 1_000_000, "since when is remembered")
        stage.say(.exit("doc"), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).here == [#"1: bob idle{"now":1}"#])
    }

    /// Regression: whoever left stayed on every screen until an outage had settled, and some never did.
    @Test("until an outage has settled, who exits with the last session goes at once; with another that is lost, stays")
    func exitsWhileSettling() {
        let stage = Stage()
        let watcher = joined(stage, "zoe")
        let (alice, bob) = (joined(stage, "alice"), joined(stage, "bob"))
        let laptop = joined(stage, "bob", "laptop")
        for session in [alice, bob, laptop] { enters(stage, session) }
        _ = stage.heard(by: watcher)
        stage.heartbeat(afterGap: true)
        stage.say(.exit("doc"), on: alice)
        stage.settle()
        #expect(stage.heard(by: watcher).here == ["1: bob"])
        // What the laptop has entered is lost, and not written again yet.
        stage.redis.here["doc"]?["bob"]?.lines.removeAll { $0.device == "laptop" }
        stage.say(.exit("doc"), on: bob)
        stage.settle()
        #expect(stage.heard(by: watcher).here == [] && stage.here == [])
        stage.say(.goodbye, on: laptop)
        stage.settle()
        stage.pass(.seconds(6))
        #expect(stage.heard(by: watcher).here == ["0:"])
    }

    @Test("until an outage has settled, the end of a grace ends nothing that is shown")
    func lossWhileSettling() {
        let stage = Stage()
        let (watcher, alice) = (joined(stage, "zoe"), joined(stage, "alice"))
        enters(stage, alice)
        _ = stage.heard(by: watcher)
        stage.drop(alice)
        stage.pass(.seconds(4))
        stage.heartbeat(afterGap: true)
        stage.pass(.seconds(4))
        #expect(stage.heard(by: watcher).here == [] && stage.here == [])
        stage.pass(.seconds(2))
        #expect(stage.heard(by: watcher).here == ["0:"])
    }

    @Test("the audit writes again what Redis has lost of an entry, and nothing of one that has ended")
    func audit() {
        var settings = ShardSettings.uncoalesced
        settings.bounds.auditCycle = .seconds(1)
        let stage = Stage(settings)
        let alice = joined(stage, "alice")
        enters(stage, alice, "{}")
        stage.pass(.seconds(5))
        stage.forgetWrites()
        let writes = stage.redisCost.writes
        stage.pass(.seconds(5))
        #expect(stage.redisCost.writes == writes, "what is there is only read")
        stage.redis.here = [:]
        stage.pass(.seconds(3))
        #expect(stage.here == ["alice"])
        #expect(stage.heard(by: alice).here.last == "1: alice{}")
    }

    @Test("on a cluster an exit is repeated, which a primary may have forgotten")
    func forgottenExit() {
        var settings = ShardSettings.uncoalesced
        settings.isSpread = true
        let stage = Stage(settings)
        let alice = joined(stage, "alice", here: false)
        enters(stage, alice)
        let before = stage.redis.here
        stage.say(.exit("doc"), on: alice)
        stage.settle()
        stage.redis.here = before
        stage.pass(.seconds(6))
        #expect(stage.here == [] && stage.redis.entries.isEmpty)
    }

    @Test("what a read finds of dead workers is swept")
    func dead() {
        let stage = Stage()
        let entry = EntryName(session: session("carol"), conversation: "doc")
        _ = stage.redis.write(HereWrite(entry: entry, content: .init(), incarnation: w2, sequence: 1, until: never))
        _ = joined(stage, "bob")
        #expect(stage.swept == [HeldItem(.entry(entry), of: w2)])
    }

    /// Regression: after the last worker had been killed, whoever came to the next one was shown its ghosts.
    @Test("what a worker held that is dead is not shown to whoever comes, and does not count")
    func ghosts() {
        let stage = Stage()
        stage.others[w2] = stage.redis.time.advanced(by: .seconds(-1))
        let name = session("carol")
        func carols(_ sequence: Int64, _ isHere: Bool, by worker: Incarnation) {
            _ = stage.redis.write(
                HereWrite(
                    entry: EntryName(session: name, conversation: "doc"), content: isHere ? .init() : nil,
                    incarnation: worker, sequence: sequence, until: never))
            stage.settle()
        }
        carols(1, true, by: w2)
        stage.heartbeat()
        let bob = joined(stage, "bob")
        #expect(stage.heard(by: bob).here == ["0:"])
        enters(stage, bob)
        #expect(stage.heard(by: bob).here == ["1: bob"], "Redis counts two")
        // The worker was only cut off, and has written it again, which changes nothing that is published.
        let w3 = Incarnation(name: "w3.c")
        stage.others[w3] = never
        carols(2, true, by: w3)
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).here == ["2: bob carol"])
        carols(3, false, by: w3)
        #expect(stage.heard(by: bob).here == ["1: bob"])
    }

    /// Regression: a list of the worker's entries that was deleted by hand was never written again.
    @Test("the audit writes entries again whose list was deleted")
    func deletedList() {
        let stage = Stage()
        for number in 0..<3 { enters(stage, joined(stage, user(number), here: false)) }
        let before = stage.redis.entries
        stage.redis.entries = [:]
        stage.pass(ShardSettings.auditCycle * 2 + .seconds(2))
        #expect(stage.redis.entries == before && stage.here.count == 3)
    }

    /// Regression: a session that stayed joined by a fresh token went with its next change, without a word.
    @Test("whether a session may be there is asked with each write, and not with its enter")
    func right() {
        let stage = Stage()
        stage.redis.setMembers(["alice": "", "bob": ""], of: "doc")
        let alice = stage.enter("alice", right: JoinRight.none)
        stage.say(.join("doc", presence: false), on: alice)
        stage.settle()
        enters(stage, alice)
        stage.show(Proof(user: "alice", device: "phone", grant: Grant(join: .all)), on: alice)
        stage.settle()
        stage.redis.deleteMembers(of: "doc")
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.here == ["alice"])
    }

    /// Regression: where the worker stopped, or lost Redis, within the grace, users went and came back with a new *since*.
    @Test("an entry of a replaced session outlives a new incarnation and its worker, for what is left of the grace")
    func replacedElsewhere() throws {
        let stage = Stage()
        let alice = joined(stage, "alice", here: false)
        let name = try #require(alice.name)
        enters(stage, alice)
        let since = stage.redis.here["doc"]?["alice"]?.since
        stage.others[w2] = never
        _ = stage.redis.write(
            DeviceWrite(
                name: session("alice", "phone", "newer"), state: .active, incarnation: w2, began: nil, age: .zero,
                opened: stage.redis.time.advanced(by: .seconds(1)), sequence: 1, lost: nil, until: never, issued: nil))
        stage.settle()
        stage.event {
            $0.noticed(.replaced(user: "alice", device: "phone", session: ByteString("1-\(name.session)")), at: $1)
        }
        stage.settle()
        #expect(stage.shard.sessionCount == 0 && stage.shard.graceLeft(at: stage.now) == .seconds(5))
        stage.pass(.seconds(2))
        stage.redisGoes()
        stage.redisReturns()
        stage.settle()
        stage.pass(.seconds(2))
        #expect(stage.here == ["alice"] && stage.shard.graceLeft(at: stage.now) == .seconds(1))
        let next = EntryName(session: session("alice", "phone", "newer"), conversation: "doc")
        _ = stage.redis.write(
            HereWrite(
                entry: next, content: .init(), incarnation: w2, sequence: 1, until: never, replaced: name.session))
        #expect(stage.redis.here["doc"]?["alice"]?.since == since)
        stage.pass(.seconds(8))
        #expect(stage.redis.here["doc"]?["alice"]?.lines.map(\.incarnation) == [w2])
        #expect(stage.shard.entryCount == 0)
    }

    /// As many as are named, with as much data as they may show.
    private func fill(_ stage: Stage, _ conversation: ConversationID) {
        let data = HereData(stored: ByteString("{\"a\":\"\(String(repeating: "x", count: 504))\"}"))
        for number in 0..<50 {
            _ = stage.redis.write(
                HereWrite(
                    entry: EntryName(session: session(user(number)), conversation: conversation),
                    content: .init(data: data), incarnation: w2, sequence: 1, until: never))
        }
    }

    /// Regression: a reader that followed many full rooms got megabytes at once, and was closed as slow for ever.
    @Test("what one reader is sent at once is bounded by bytes: of a snapshot, and of changes in one tick")
    func pieces() {
        let stage = Stage()
        stage.others[w2] = never
        stage.heartbeat()
        let bob = stage.enter("bob")
        stage.settle()
        for number in 0..<60 { fill(stage, room(number)) }
        stage.stall(bob)
        for number in 0..<60 {
            stage.say(.join(room(number), presence: false, here: true), on: bob)
            stage.settle()
        }
        _ = stage.heard(by: bob)
        var pieces = 0
        repeat {
            stage.read(bob, andStalls: true)
            let sent = stage.heard(by: bob).here.count
            #expect(sent <= 3)
            pieces += sent > 0 ? 1 : 0
            if sent == 0 { break }
        } while pieces < 100
        #expect((20...60).contains(pieces))
    }

    @Test("the pace slows with what each reader, and all together, would get")
    func bytes() {
        let stage = Stage(ShardSettings())
        stage.others[w2] = never
        stage.heartbeat()
        fill(stage, "doc")
        let readers = (0..<40).map { joined(stage, user(100 + $0)) }
        stage.forgetWhatWasSaid()
        for number in Int64(2)...400 {
            _ = stage.redis.write(
                HereWrite(
                    entry: EntryName(session: session(user(1)), conversation: "doc"),
                    content: .init(data: HereData(stored: ByteString("{\"n\":\(number)}"))), incarnation: w2,
                    sequence: number, until: never))
            stage.settle()
            stage.pass(.milliseconds(50))
        }
        // 28 KB at 16 KB/s, or to 40 readers at 2 MB/s: one in 1.7 s.
        let sent = stage.heard(by: readers[0]).here.count
        #expect((11...13).contains(sent), "\(sent) in 20 s")
    }

    @Test("a room of more than can be named has no data, is counted exactly, and is told more rarely")
    func crowd() {
        var settings = ShardSettings()
        settings.hereNames = 3
        let stage = Stage(settings)
        let bob = joined(stage, "bob")
        func comes(_ number: Int, _ isHere: Bool = true) {
            let entry = EntryName(session: session(user(number)), conversation: "doc")
            _ = stage.redis.write(
                HereWrite(
                    entry: entry, content: isHere ? .init(data: HereData(stored: "{}")) : nil, incarnation: w2,
                    sequence: isHere ? 1 : 2, until: never))
            stage.settle()
            stage.pass(.milliseconds(10))
        }
        stage.others[w2] = never
        for number in 0..<30 { comes(number) }
        stage.pass(.seconds(3))
        let heard = stage.heard(by: bob).here
        #expect(heard.contains("3: u000{} u001{} u002{}") && heard.last == "30: u000 u001 u002")
        #expect(heard.count <= 7, "\(heard)")
        let reads = stage.redisCost.reads
        for number in 0..<28 { comes(number, false) }
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).here.last == "2: u028{} u029{}")
        #expect(stage.redisCost.reads - reads <= 8, "\(stage.redisCost.reads - reads) reads")
    }

    @Test("changes that come during a read, and reads that come late, leave the newest state")
    func races() {
        let stage = Stage()
        let bob = joined(stage, "bob")
        let alice = joined(stage, "alice", here: false)
        stage.channelGoes(.here("doc"))
        stage.say(.enter("doc"), on: alice)
        stage.answer()
        stage.answer()
        stage.confirm()
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.say(.exit("doc"), on: alice)
        stage.answer()
        stage.hear()
        stage.arrives(read)
        stage.settle()
        #expect(stage.heard(by: bob).here.last == "0:")
    }

    private let never = Timestamp(milliseconds: 1 << 50)
    private func user(_ number: Int) -> UserID { try! UserID("u\(number / 100)\(number / 10 % 10)\(number % 10)") }
    private func room(_ number: Int) -> ConversationID { try! ConversationID("c\(number)") }
}

extension Stage {
    fileprivate func entry(of session: Session, in conversation: ConversationID) -> EntryName {
        EntryName(session: session.name!, conversation: conversation)
    }

    /// Who is here in Redis.
    fileprivate var here: [String] { redis.here["doc"]?.keys.map(\.text).sorted() ?? [] }
}

extension [ServerMessage] {
    /// What it was told of who is here.
    var here: [String] {
        compactMap { message in
            guard case .here(let here) = message else { return nil }
            return
                ("\(here.count):"
                + here.users.map { " \($0.user)\($0.isIdle ? " idle" : "")\($0.data?.text.string ?? "")" }.joined())
        }
    }
}

extension ServerMessage {
    fileprivate static func error(id: MessageID, _ code: MessageError.Code) -> ServerMessage {
        .error(
            MessageError(
                code: code, id: id,
                message: "you are not a member of this conversation"))
    }
}
