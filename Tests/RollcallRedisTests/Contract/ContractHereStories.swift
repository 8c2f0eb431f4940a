// Who is here, with a real Redis and with its twin.

import RedisTwin
import RollcallProtocol
import RollcallRedis
import Testing

@Suite(.serialized) struct ContractHereStories {
    private let hash = "here:{lounge}"
    private let since = "here:{lounge}:since"

    @Test("a user is here from the first enter to the last exit", arguments: Party.allCases)
    func enterAndExit(party: Party) async throws {
        let redis = try await party.open()
        let before = try await redis.time()
        let first = try await redis.enters(Session("aa"), 1, name: "Ada", data: #"{"section":4}"#)
        let came = try #require(first.since)
        #expect(first.outcome == .here && came == first.time && came >= before)
        let ada = HereUser(user: alice, name: "Ada", since: came, data: .of(#"{"section":4}"#))
        #expect(
            try await redis.told()
                == [.init(user: alice, here: ada, count: 1, at: first.time, sessions: 1, isOwnExit: false)])
        #expect(
            try await redis.keys()[hash]?.content == ["alice=phone\tw1.aaaa\taa\t1\tactive\tAda\t{\"section\":4}"])
        #expect(try await redis.keys()[since]?.content == ["alice=\(came.milliseconds)"])
        let second = try await redis.enters(Session("bb", device: tablet), 1)
        #expect(second.since == came, "without interruption, over all devices")
        #expect(
            try await redis.told()
                == [.init(user: alice, here: ada, count: 1, at: second.time, sessions: 2, isOwnExit: false)],
            "nothing that is seen has changed, but the number of sessions")
        let exit = try await redis.write(Session("aa").here(2, content: false, isOwnExit: true))
        let rest = HereUser(user: alice, since: came)
        #expect(
            try await redis.told()
                == [.init(user: alice, here: rest, count: 1, at: exit.time, sessions: 1, isOwnExit: true)])
        let last = try await redis.exits(Session("bb", device: tablet), 2)
        #expect(exit.outcome == .gone && last.since == nil)
        #expect(
            try await redis.told()
                == [.init(user: alice, here: nil, count: 0, at: last.time, sessions: 0, isOwnExit: false)])
        #expect(try await redis.keys().isEmpty)
        #expect(try await redis.exits(Session("bb", device: tablet), 3).outcome == .gone)
        #expect(try await redis.told() == [], "who is not here is not told")
    }

    @Test(
        "idle if no device is active; data and name are those of the device that sent data last",
        arguments: Party.allCases)
    func shown(party: Party) async throws {
        let redis = try await party.open()
        func now() async throws -> [String] { try await redis.here().users.map(\.shown) }
        let (aa, bb) = (Session("aa"), Session("bb", device: tablet))
        _ = try await redis.enters(aa, 1, isIdle: true, name: "A")
        #expect(try await now() == ["alice A idle"])
        _ = try await redis.enters(bb, 1, name: "B", data: "{}")
        #expect(try await now() == ["alice B {}"])
        _ = try await redis.enters(aa, 2, isIdle: true, name: "A", data: #"{"a":1}"#)
        #expect(try await now() == [#"alice A {"a":1}"#])
        _ = try await redis.enters(bb, 2, isIdle: true, name: "B", data: "{}")
        #expect(try await now() == [#"alice A idle {"a":1}"#], "the same data again is no news")
        _ = try await redis.enters(aa, 3, isIdle: true, name: "A")
        #expect(try await now() == ["alice B idle {}"], "data that was taken back")
        _ = try await redis.enters(aa, 4)
        #expect(try await now() == ["alice B {}"])
        #expect(try await redis.told().map { $0.here?.shown ?? "" }.count == 6)
    }

    @Test("of one session, the later decision counts, and no other session's", arguments: Party.allCases)
    func order(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.enters(Session("aa"), 5, data: "{}")
        _ = try await redis.told()
        #expect(try await redis.exits(Session("aa"), 4).outcome == .late)
        #expect(try await redis.enters(Session("aa"), 4).outcome == .late)
        #expect(try await redis.exits(Session("zz"), 9).outcome == .gone, "an older session's exit")
        #expect(try await redis.enters(Session("aa"), 5, data: "{}").outcome == .here, "repeated")
        #expect(try await redis.told() == [])
        #expect(try await redis.here().count == 1)
        let lines = try await redis.lines(of: [Session("aa").entered(lounge), Session("zz").entered(lounge)])
        #expect(lines.map { $0?.sequence } == [5, nil] && lines[0]?.incarnation == w1)
        _ = try await redis.enters(Session("cc"), 1, replaced: "aa")
        #expect(
            try await redis.told().map { $0.here?.shown } == ["alice"],
            "the line of the session that it replaced is gone")
        #expect(try await redis.exits(Session("aa"), 6).outcome == .gone)
        #expect(try await redis.here().entries().map(\.item) == [.entry(Session("cc").entered(lounge))])
    }

    @Test("who is no member, or came too late, is not here", arguments: Party.allCases)
    func refused(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await redis.enters(Session("aa"), 1, isOpen: false).outcome == .notAMember)
        let past = try await redis.time().advanced(by: .milliseconds(-1))
        #expect(try await redis.enters(Session("aa"), 1, until: past).outcome == .expired)
        #expect(try await redis.keys().isEmpty)
        _ = try await redis.enters(Session("aa"), 2)
        _ = try await redis.enters(Session("bb", user: bob), 1)
        #expect(try await redis.enters(Session("aa"), 3, isOpen: false).outcome == .notAMember)
        #expect(try await redis.here().users.map(\.user) == [bob], "no line is left")
        _ = try await redis.enters(Session("aa"), 4)
        _ = try await redis.told()
        try await redis.setMember(bob, name: "", of: lounge)
        #expect(try await redis.told().map { "\($0.user) \($0.here != nil) \($0.count)" } == ["alice false 1"])
        try await redis.setMembers([alice: "", bob: ""], of: lounge)
        #expect(try await redis.enters(Session("aa"), 5, isOpen: false).outcome == .here)
        try await redis.removeMember(bob, of: lounge)
        #expect(
            try await redis.told().map { "\($0.user) \($0.here != nil) \($0.count)" } == [
                "alice true 2", "bob false 1",
            ])
        try await redis.setMembers([:], of: lounge)
        #expect(try await redis.told().map { "\($0.user) \($0.here != nil) \($0.count)" } == ["alice false 0"])
        #expect(try await redis.keys()[hash] == nil)
    }

    @Test("a read has the longest here first, then by bytes, and all are counted", arguments: Party.allCases)
    func read(party: Party) async throws {
        let redis = try await party.open()
        var came = try await redis.time()
        for name in ["zoe", "bob", "\u{65}\u{301}"] {
            _ = try await redis.enters(Session("s", user: user(name)), 1)
            came = came.advanced(by: .milliseconds(20))
            try await redis.wait(until: came)
        }
        // Of the same moment.
        for name in ["b", "a", "\u{E9}"] {
            _ = try await redis.enters(Session("s", user: user(name)), 1, since: came.advanced(by: .seconds(-1)))
        }
        let here = try await redis.here(most: 4)
        #expect(
            here.users.map(\.user.text).map { Array($0.utf8) } == ["a", "b", "\u{E9}", "zoe"].map { Array($0.utf8) })
        #expect(here.count == 6 && here.entries().count == 4)
        #expect(try await redis.room(lounge, users: [], withTyping: true, mostMembers: 9).here == nil)
    }

    @Test("since when is remembered where Redis has lost it, and is never in the future", arguments: Party.allCases)
    func remembered(party: Party) async throws {
        let redis = try await party.open()
        let came = try #require(try await redis.enters(Session("aa"), 1).since)
        try await redis.wait(until: came.advanced(by: .milliseconds(20)))
        try await redis.flush()
        _ = try await redis.enters(Session("bb", device: tablet), 2)
        _ = try await redis.told()
        #expect(try await redis.enters(Session("aa"), 2, since: came).since == came)
        #expect(try await redis.told().map { $0.here?.since } == [came])
        let later = came.advanced(by: .seconds(60))
        #expect(try await redis.enters(Session("bb", device: tablet), 3, since: later).since == came)
    }

    @Test("a sweep removes what a dead incarnation holds, and nothing else", arguments: Party.allCases)
    func swept(party: Party) async throws {
        let redis = try await party.open()
        let (aa, bb, cc) = (Session("aa"), Session("bb", device: tablet), Session("cc", user: bob))
        for session in [aa, bb, cc] {
            #expect(try await redis.record(session.entered(lounge), of: w1, until: .never))
            _ = try await redis.enters(session, 1)
        }
        #expect(try await redis.record([aa.name], of: w1, until: .never))
        _ = try await redis.enters(Session("bb", device: tablet, worker: w2), 2)
        let past = try await redis.time().advanced(by: .milliseconds(-1))
        #expect(try await redis.record(aa.entered(kitchen), of: w1, until: past) == false)
        let items = try #require(try await redis.claimSweep(of: w1, by: w3, limit: 10))
        #expect(items.count == 4 && items.contains(.entry(bb.entered(lounge))) && items.contains(.session(aa.name)))
        #expect(try await redis.sweep(items, of: w1, until: past) == false)
        #expect(try await redis.here().count == 2)
        #expect(try await redis.sweep(items, of: w1, until: .never))
        let left = try await redis.here()
        #expect(left.users.map(\.user) == [alice] && left.count == 1)
        #expect(left.entries() == [HeldItem(.entry(bb.entered(lounge)), of: w2)])
        #expect(try await redis.claimSweep(of: w1, by: w3, limit: 10) == [])
        #expect(try await redis.keys()["worker:{w1.aaaa}:here"] == nil)
    }

    @Test(
        "what apps' servers say has an end, and the last one who was told counts", arguments: Party.allCases)
    func servers(party: Party) async throws {
        let redis = try await party.open()
        func say(
            _ data: String?, by worker: Incarnation = w1, _ sequence: Int64 = 0, lasts: Duration = .seconds(60),
            renews: Incarnation? = nil
        ) async throws -> HereWritten {
            try await redis.write(
                HereWrite(
                    entry: EntryName(ofServersFor: alice, in: lounge),
                    content: data.map { .init(data: .of($0)) }, incarnation: worker, sequence: sequence, until: .never,
                    isOwnExit: data == nil, lasts: lasts, renews: renews))
        }
        let first = try await say("{}")
        let number = try #require(first.sequence)
        #expect(first.outcome == .here && number == first.time.milliseconds && first.former == nil)
        #expect(try await redis.told().map(\.expiresIn) == [.seconds(60)])
        #expect(try await redis.here().ends == [alice: first.time.advanced(by: .seconds(60))])
        _ = try await redis.enters(Session("aa"), 1)
        #expect(try await redis.told().map(\.expiresIn) == [nil], "a session is here, too")
        #expect(try await redis.here().ends == [:])
        _ = try await redis.exits(Session("aa"), 2)
        _ = try await redis.told()
        let second = try await say(#"{"a":1}"#, by: w2)
        let next = try #require(second.sequence)
        #expect(next > number && second.former == .init(incarnation: w1, sequence: number))
        // Whoever was told before neither ends nor renews it.
        let late = try await say(nil, number, lasts: .zero)
        #expect(late.outcome == .late && late.sequence == next)
        #expect(try await say("{}", number, renews: w1).outcome == .late)
        #expect(try await say("{}", by: w3, next, renews: w1).outcome == .late, "another one holds it")
        _ = try await redis.told()
        // Another one adopts it, and has it end later.
        #expect(try await say(#"{"a":1}"#, by: w3, next, lasts: .seconds(90), renews: w2).outcome == .here)
        #expect(try await redis.told().map(\.expiresIn) == [.seconds(90)])
        #expect(try await redis.here().entries().map(\.incarnation) == [w3])
        let end = try await say(nil, by: w1, lasts: .zero)
        #expect(end.outcome == .gone && end.sequence == nil && end.former?.incarnation == w3)
        #expect(try await redis.told().map { "\($0.here != nil) \($0.isOwnExit)" } == ["false true"])
        #expect(try await say(#"{"a":1}"#, by: w3, next, renews: w3).outcome == .late, "it was ended")
        #expect(try await redis.keys()[hash] == nil)
        #expect(try await say(#"{"a":1}"#, by: w3, next).outcome == .here, "Redis has lost it")
    }

    @Test("foreign keys and lines hurt nobody", arguments: ["hash", "set", "lines"])
    func foreign(what: String) async throws {
        let store = try await StoreUnderTest()
        switch what {
        case "hash": try await store.command("SET", hash, "not ours")
        case "set": try await store.command("SET", since, "not ours")
        default:
            try await store.command(
                "HSET", hash, "alice", "no line\nphone\tw1\tzz\tx\tactive\t\t", "eve", "\t\t\t\t\t\t")
        }
        let session = Session("aa")
        if what == "lines" {
            #expect(try await store.call { $0.write(session.here(1, data: "{}"), reply: $1) }.outcome == .here)
            let here = try await store.room(mostHere: 9).here
            #expect(here?.users.map(\.shown) == ["alice {}"] && here?.count == 2)
            try await store.command("HSET", hash, "alice", "phone\tw1.aaaa\taa\t1\tactive\t\t{\"cut\tlater words")
            #expect(try await store.room(mostHere: 9).here?.users.map(\.shown) == ["alice"])
        }
        #expect(try await store.room(mostHere: 9).admitted == [])
        try await store.setMembers([bob: ""])
        try await store.call { $0.removeMember(bob, of: lounge, reply: $1) }
        #expect(
            try await store.call { $0.sweep([.entry(session.entered(lounge))], of: w1, until: .never, reply: $1) } == 0)
        #expect(try await store.call { $0.write(session.here(2, content: false), reply: $1) }.outcome == .gone)
    }
}

extension Session {
    func entered(_ conversation: ConversationID) -> EntryName { EntryName(session: name, conversation: conversation) }

    func here(
        _ sequence: Int64, content: Bool = true, isIdle: Bool = false, name: ByteString? = nil, data: String? = nil,
        until: Timestamp = .never, isOpen: Bool = true, replaced: String? = nil, since: Timestamp? = nil,
        isOwnExit: Bool = false
    ) -> HereWrite {
        HereWrite(
            entry: entered(lounge),
            content: content ? .init(isIdle: isIdle, name: name, data: data.map(HereData.of)) : nil,
            incarnation: worker, sequence: sequence, until: until, isOpen: isOpen,
            replaced: replaced.map { SessionID(random: ByteString($0)) }, since: since, isOwnExit: isOwnExit)
    }
}

extension HereData {
    static func of(_ text: String) -> HereData {
        guard let data = HereData(stored: ByteString(text)) else { preconditionFailure("\(text) is no data") }
        return data
    }
}

extension HereUser {
    fileprivate var shown: String {
        ([user.text] + [name?.string, isIdle ? "idle" : nil, data?.text.string].compactMap(\.self)).joined(
            separator: " ")
    }
}

extension Contract {
    fileprivate func enters(
        _ session: Session, _ sequence: Int64, isIdle: Bool = false, name: ByteString? = nil, data: String? = nil,
        until: Timestamp = .never, isOpen: Bool = true, replaced: String? = nil, since: Timestamp? = nil
    ) async throws -> HereWritten {
        try await write(
            session.here(
                sequence, isIdle: isIdle, name: name, data: data, until: until, isOpen: isOpen, replaced: replaced,
                since: since))
    }

    fileprivate func exits(_ session: Session, _ sequence: Int64) async throws -> HereWritten {
        try await write(session.here(sequence, content: false))
    }

    fileprivate func here(most: Int = 10) async throws -> HereSnapshot {
        let room = try await room(lounge, users: [], withTyping: false, mostMembers: 0, mostHere: most)
        return room.here ?? HereSnapshot([], count: -1, in: lounge)
    }

    fileprivate func told() async throws -> [HereChange] {
        try await published().compactMap { if case .here(let change, _) = $0 { change } else { nil } }
    }
}
