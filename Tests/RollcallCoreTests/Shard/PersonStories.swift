// What users decide that others see: whom it hides, when it begins and ends, and what is held back until it is known.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite("People decide what others see") struct PersonStories {
    private typealias Settings = [Person.Field: ByteString?]

    private let room = "c1" as ConversationID

    /// A user decides, through some worker, which tells those of the user's devices.
    private func decide(
        _ user: UserID, _ settings: Settings = [:], blocks: [UserID: Bool] = [:], on stage: Stage, isTold: Bool = true
    ) {
        let written = stage.redis.write(PersonWrite(of: user, settings: settings, blocks: blocks))
        guard isTold, let revision = written.person?.revision else { return }
        for incarnation in written.incarnations {
            stage.redis.announce(.person(user, revision: revision), to: incarnation)
        }
    }

    /// Alice is online, and bob and carol, who may ask, watch her; bob shares a conversation with her.
    private func scene(_ settings: ShardSettings = .uncoalesced) -> (
        stage: Stage, alice: Session, bob: Session, carol: Session
    ) {
        let stage = Stage(settings)
        stage.redis.setMembers(["alice": "", "bob": ""], of: room)
        let alice = stage.enter("alice", watch: .all)
        let bob = stage.enter("bob", watch: .all)
        let carol = stage.enter("carol", watch: .all)
        stage.say(.join(room, presence: true), on: bob)
        for key in [bob, carol] { stage.say(.watch(["alice"]), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        return (stage, alice, bob, carol)
    }

    // MARK: Who sees what

    @Test(
        "each setting hides from those whom it names, at once and with one message, and its end shows again",
        arguments: [
            ([.presence: "nobody"], ["alice offline"], ["alice offline"]),
            ([.availability: "invisible"], ["alice offline"], ["alice offline"]),
            ([.presence: "shared"], [], ["alice offline"]),
            ([.presence: "shared", .availability: "busy"], ["alice online"], ["alice offline"]),
            ([.lastSeen: "nobody"], [], []),
        ] as [([Person.Field: ByteString?], [String], [String])])
    func settings(settings: [Person.Field: ByteString?], bobs: [String], carols: [String]) {
        let (stage, alice, bob, carol) = scene()
        decide("alice", settings, on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == bobs && stage.heard(by: carol).statuses == carols)
        // Oneself sees the whole, on every path.
        stage.say(.get(["alice"]), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).statuses == ["alice online"])
        decide("alice", settings.mapValues { _ in nil }, on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == bobs.map { _ in "alice online" })
        #expect(stage.heard(by: carol).statuses == carols.map { _ in "alice online" })
    }

    @Test("a block hides each from the other, and nobody else, until it is taken back")
    func blocks() {
        let (stage, alice, bob, carol) = scene()
        stage.say(.watch(["bob"]), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        decide("alice", blocks: ["bob": true], on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        #expect(stage.heard(by: alice).statuses == ["bob offline"])
        for key in [alice, bob, carol] { stage.say(.get(["alice", "bob"]), on: key) }
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "bob online"])
        #expect(stage.heard(by: alice).statuses == ["alice online", "bob offline"])
        #expect(stage.heard(by: carol).statuses == ["alice online", "bob online", "alice away"])
        decide("alice", blocks: ["bob": false], on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
        #expect(stage.heard(by: alice).statuses == ["bob online"])
        #expect(stage.heard(by: carol).isEmpty)
    }

    @Test("who hides the time is shown without it, and what was done while hidden is told to nobody later")
    func timeless() {
        let (stage, alice, bob, _) = scene()
        decide("alice", [.lastSeen: "nobody"], on: stage)
        stage.say(.goodbye, on: alice)
        stage.settle()
        decide("alice", [.availability: "busy"], on: stage)
        stage.settle()
        let gone = stage.heard(by: bob).presences.last
        #expect(gone?.words?.availability == .busy, "what she says stays")
        #expect(gone?.status == .offline && gone?.lastSeen == nil && gone?.updatedAt == nil && gone?.version == 1)
        // Hidden, and then gone: the time stays untold.
        decide("alice", [.lastSeen: nil, .availability: "invisible"], on: stage)
        let again = stage.enter("alice")
        stage.settle()
        stage.pass(.seconds(1))
        stage.say(.goodbye, on: again)
        stage.settle()
        stage.pass(.seconds(1))
        _ = stage.heard(by: bob)
        decide("alice", [.availability: nil], on: stage)
        stage.settle()
        let shown = stage.heard(by: bob).presences
        #expect(shown.map(\.lastSeen) == [nil] && shown.map(\.version) == [1])
        stage.pass(.seconds(1))
        let third = stage.enter("alice")
        stage.settle()
        stage.say(.goodbye, on: third)
        stage.settle()
        #expect(stage.heard(by: bob).presences.last?.lastSeen != nil, "seen since")
    }

    @Test("what ends at its time ends without a write")
    func until() {
        let (stage, _, bob, _) = scene()
        let end = stage.redis.time.advanced(by: .seconds(3))
        decide("alice", [.availability: "invisible", .until: ByteString("\(end.milliseconds)")], on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        let person = stage.redis.person(of: "alice")
        stage.pass(.milliseconds(2900))
        #expect(stage.heard(by: bob).isEmpty)
        stage.pass(.milliseconds(200))
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        #expect(stage.redis.person(of: "alice") == person)
    }

    // MARK: At the source

    @Test(
        "an invisible user's typing stops and is taken for nothing, and what they have open is shown again at the end")
    func source() {
        let (stage, alice, _, _) = scene()
        stage.say(.join(room, presence: false), on: alice)
        stage.settle()
        stage.say(.enter(room), on: alice)
        stage.say(.typing(room, true), on: alice)
        stage.settle()
        #expect(stage.redis.here[room]?["alice"] != nil && !stage.redis.typingSets.isEmpty)
        decide("alice", [.availability: "invisible"], on: stage)
        stage.settle()
        #expect(stage.redis.here[room]?["alice"] == nil && stage.redis.typingUsers.isEmpty)
        let signals = stage.signals.count
        stage.forgetWhatWasSaid()
        stage.say(.typing(room, true), id: "t", on: alice)
        stage.say(.enter(room), id: "e", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).contains(.ack("t")) && stage.signals.count == signals)
        #expect(stage.redis.here[room]?["alice"] == nil)
        decide("alice", [.availability: nil], on: stage)
        stage.settle()
        #expect(stage.redis.here[room]?["alice"] != nil)
    }

    // MARK: What is not known

    @Test("nothing new is shown until what is decided is known, and a hash that is missing hides")
    func unknown() {
        let (stage, alice, bob, _) = scene()
        decide("alice", [.presence: "shared"], on: stage, isTold: false)
        // Whoever watches has missed that.
        stage.redis.published = []
        stage.say(.state(.idle), on: alice)
        while stage.heard(by: bob).isEmpty, !stage.asked.isEmpty || !stage.redis.published.isEmpty {
            if stage.asked.contains(where: { if case .presence = $0.request { true } else { false } }) { break }
            if stage.redis.published.isEmpty { stage.answer() } else { stage.hear() }
        }
        #expect(stage.heard(by: bob).isEmpty, "the read has not answered")
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
        // A revision that Redis does not have.
        stage.redis.presences["alice"]?.value.person += 5
        stage.say(.state(.active), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        #expect(stage.shard.missingPersonCount == 1)
        // Whoever sets it again, ends that.
        decide("alice", [.lastSeen: "nobody"], on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"] && stage.shard.missingPersonCount == 0)
    }

    @Test("who has missed a change in turn of a block reads it, and the worker's own users follow a lost notice")
    func missed() {
        let (stage, _, bob, _) = scene()
        decide("alice", blocks: ["dave": true], on: stage, isTold: false)
        stage.redis.published = []
        decide("alice", blocks: ["bob": true], on: stage)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        decide("alice", [.availability: "invisible"], on: stage, isTold: false)
        stage.redis.published = []
        stage.channelGoes(.worker(stage.incarnation!))
        stage.event { $0.subscribed(.worker(stage.incarnation!), at: $1) }
        stage.settle()
        #expect(stage.shard.persons.isInvisible("alice") == true)
    }

    @Test("a Redis that was emptied gets back what users decided, before anything of them is shown")
    func emptied() {
        let (stage, _, bob, _) = scene()
        decide("alice", [.presence: "nobody"], blocks: ["dave": true], on: stage)
        stage.settle()
        let person = stage.redis.person(of: "alice")
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.redis.persons = [:]
        stage.redis.presences = [:]
        stage.redisReturns()
        stage.settle()
        stage.pass(.seconds(12))
        #expect(stage.redis.person(of: "alice") == person && person != nil)
        #expect(stage.redis.record(of: "alice").person == person?.revision)
        #expect(stage.heard(by: bob).statuses.filter { $0.hasPrefix("alice") }.isEmpty)
    }

    @Test("who was erased has decided nothing")
    func erased() {
        let (stage, alice, bob, _) = scene()
        decide("alice", [.presence: "nobody"], on: stage)
        stage.say(.goodbye, on: alice)
        stage.settle()
        let isErased = stage.redis.erase("alice", dead: [])
        #expect(isErased)
        stage.settle()
        stage.pass(.seconds(1))
        _ = stage.heard(by: bob)
        _ = stage.enter("alice")
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        #expect(stage.redis.persons.isEmpty)
    }

    // MARK: What cannot be told

    @Test(
        "who is hidden, by whatever, looks like one who was never seen, in every message and at the same cost",
        arguments: [false, true],
        ["nobody", "invisible", "shared", "blocked", "blocking"])
    func equal(others: Bool, way: String) {
        func told(_ isThere: Bool) -> ([ServerMessage], [Int]) {
            let stage = Stage()
            let bob = stage.enter("bob", watch: .all)
            if others {
                let carol = stage.enter("carol", watch: .all)
                stage.say(.watch(["alice"]), on: carol)
            }
            let key = stage.connect()
            stage.settle()
            if way == "blocking" { decide("bob", blocks: ["alice": true], on: stage) }
            if isThere {
                switch way {
                case "blocked": decide("alice", blocks: ["bob": true], on: stage)
                case "invisible": decide("alice", [.availability: "invisible"], on: stage)
                case "blocking": break
                default: decide("alice", [.presence: ByteString(way)], on: stage)
                }
                _ = stage.enter("alice", on: key)
            }
            stage.settle()
            stage.forgetWhatWasSaid()
            let cost = stage.redisCost
            stage.say(.watch(["alice"]), id: "w", on: bob)
            stage.say(.get(["alice"]), id: "g", on: bob)
            stage.settle()
            for state in [DeviceState.idle, .background, .active] {
                if isThere { stage.say(.state(state), on: key) }
                stage.settle()
            }
            if isThere { stage.say(.goodbye, on: key) }
            stage.settle()
            stage.say(.get(["alice"]), id: "h", on: bob)
            stage.settle()
            let spent = [
                stage.redisCost.subscriptions - cost.subscriptions, stage.redisCost.lookups - cost.lookups,
            ]
            return (stage.heard(by: bob), spent)
        }
        let (never, hidden) = (told(false), told(true))
        #expect(never.0.count == 4 && hidden.0 == never.0 && hidden.1 == never.1, "\(hidden) \(never)")
    }
}
