// Random calls in random order on a real Redis and on its twin: both answer, publish and store the same. The world is
// small enough for collisions: two users with two devices each, three workers, two conversations. Many calls are late,
// repeated, out of order, or within the same millisecond.

import RedisTwin
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@Suite(.serialized) struct ContractRandomisedTests {
    @Test(.timeLimit(.minutes(2))) func bothPartiesAnswerPublishAndStoreTheSame() async throws {
        var random = SeededGenerator(seed: printedSeed())
        for _ in 0..<4 {
            // Short and long times for everything that expires.
            let settings = TwinRedis.Settings(
                retention: [.milliseconds(150), .seconds(60)].randomElement(using: &random)!,
                typingExpiry: [.milliseconds(100), .milliseconds(250), .seconds(60)].randomElement(using: &random)!,
                appendsEvents: Bool.random(using: &random))
            let both = try await SideBySide(settings)
            var calls = RandomCalls(random: SeededGenerator(seed: random.next()))
            for user in [alice, bob] { try await both.plant(calls.inheritance(of: user, at: both.time())) }
            for step in 1...250 {
                do {
                    try await calls.next(on: both)
                    if step % 10 == 0 { _ = try await both.keys() }
                } catch is BegunAnew {}
            }
            #expect(await both.judged > 20, "too little of it fell into clear moments")
        }
    }
}

private struct RandomCalls {
    /// A session, and what the answers have shown about it.
    private struct Attempt {
        let name: SessionName
        var incarnation = w1
        var began: Timestamp?
        var sequence: Int64 = 0
    }

    private var random: SeededGenerator
    private var attempts: [Attempt] = []
    private var signals: [TypingSignal] = []
    /// As answers have shown them.
    private var persons: [UserID: [Person]] = [:]
    private let workers = [w1, w2, w3]
    private let users = [alice, bob]
    private let conversations = [lounge, kitchen]

    init(random: SeededGenerator) {
        self.random = random
        for user in users {
            for device in [phone, tablet] {
                attempts += ["aa", "bb", "cc"].map { Attempt(name: Session($0, user: user, device: device).name) }
            }
        }
    }

    /// Makes the next call; sometimes waits, or sets the clock before.
    mutating func next(on redis: some Contract) async throws {
        if chance(6) {
            try await redis.wait(
                until: redis.time().advanced(by: .milliseconds(Int.random(in: 1...120, using: &random))))
        }
        if SettableClock.isAvailable, chance(5) {
            let step = pick([-3_600_000, -7000, -1500, -400, 300, 2000, 7000, 3_600_000])
            try await redis.setClock(by: .milliseconds(step))
        }
        let now = try await redis.time()
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<26: try await decide(at: now, redis)
        case 26..<30: try await decideAbove(at: now, redis)
        case 30..<45: try await sweep(at: now, redis)
        case 45..<60: try await type(at: now, redis)
        case 60..<70: try await enter(at: now, redis)
        case 70..<80: try await lease(redis)
        case 80..<88: try await changeMembers(redis)
        default: try await read(redis)
        }
    }

    /// A record left by other workers: its version and last-seen time may be ahead of the clock, and one device left
    /// just within or just outside the time for which it counts.
    mutating func inheritance(of user: UserID, at now: Timestamp) -> PresenceRecord {
        let gone = DeviceRecord(
            state: nil, incarnation: w3, began: now.advanced(by: .seconds(-700)), session: SessionID(random: "old"),
            sequence: 7, since: now.advanced(by: .seconds(pick([-590, -601, -900]))), lost: nil)
        return PresenceRecord(
            user: user, devices: [pick([phone, device("watch")]): gone],
            lastSeen: pick([nil, now.advanced(by: .seconds(-650)), now.advanced(by: .seconds(30))]),
            updatedAt: gone.since, version: now.milliseconds + pick([-600_000, 5000]))
    }

    // MARK: Presence

    private mutating func decide(at now: Timestamp, _ redis: some Contract) async throws {
        let index = Int.random(in: attempts.indices, using: &random)
        let attempt = attempts[index]
        let others = attempts.filter { $0.name.user == attempt.name.user && $0.name.device == attempt.name.device }
        // An age with which the hello may be in the same millisecond as the start of another session.
        let tie = pick(others).began.map { now.since($0) } ?? .zero
        let off = Duration.milliseconds(pick([0, 0, 0, -1, 1]))
        var write = DeviceWrite(
            name: attempt.name, state: pick([.active, .active, .idle, .background, nil]),
            incarnation: pick(workers), began: chance(30) ? nil : attempt.began?.advanced(by: off),
            age: pick([.zero, .milliseconds(3), .milliseconds(500), .seconds(5), tie]),
            opened: now.advanced(by: .milliseconds(pick([0, 0, -2, -400]))),
            sequence: max(0, attempt.sequence + pick([1, 1, 1, 1, 2, 0, -1])),
            lost: pick([nil, nil, nil, now.advanced(by: .milliseconds(-200)), now.advanced(by: .seconds(1))]),
            until: now.advanced(by: .milliseconds(pick([50_000, 50_000, 50_000, 50_000, -1, 0, 1, 63_000]))))
        write.reset = Int64(pick([0, 0, 1, 2]))
        write.isAfterOutage = chance(10)
        write.person = pick([0, 0, persons[attempt.name.user]?.randomElement(using: &random)?.revision ?? 0])
        write.issued = pick([nil, now, now.advanced(by: .seconds(-9)), now.advanced(by: .seconds(9))])
        if write.state == .active || write.state == .idle {
            write.profile = Profile(name: pick([nil, "Ada", "\"B\""]))
        }
        let written = try await redis.write(write)
        guard written.outcome == .written else { return }
        attempts[index].began = written.began
        attempts[index].sequence = write.sequence
        attempts[index].incarnation = write.incarnation
    }

    /// What a user decides that others see.
    private mutating func decideAbove(at now: Timestamp, _ redis: some Contract) async throws {
        let user = pick(users)
        let values: [Person.Field: [ByteString?]] = [
            .presence: ["shared", "nobody", nil], .lastSeen: ["shared", "nobody", nil],
            .availability: ["busy", "dnd", "invisible", "invisible", nil], .text: ["Away \"now\"", nil],
            .emoji: ["\u{1F334}", nil],
            .until: [1, 40, 3_600_000].map { ByteString("\(now.milliseconds + Int64($0))") } + [nil],
        ]
        var settings: [Person.Field: ByteString?] = [:]
        for field in Person.Field.settings where chance(40) {
            settings.updateValue(pick(values[field]!), forKey: field)
        }
        var blocks: [UserID: Bool] = [:]
        for other in [bob, alice] where chance(20) { blocks[other] = chance(70) }
        let known = chance(40) ? persons[user]?.randomElement(using: &random) : nil
        let kind: PersonWrite.Kind = pick([.patch, .patch, .settings, .all])
        let write =
            chance(15)
            ? PersonWrite(of: user, known: known)
            : PersonWrite(of: user, kind, settings: settings, blocks: blocks, known: known)
        if let person = try await redis.write(write).person { persons[user, default: []].append(person) }
    }

    private mutating func sweep(at now: Timestamp, _ redis: some Contract) async throws {
        let attempt = pick(attempts)
        let dead = chance(70) ? attempt.incarnation : pick(workers)
        let until = now.advanced(by: .milliseconds(pick([50_000, 50_000, 50_000, 50_000, -5, 63_000])))
        let beat = pick([nil, now.advanced(by: .milliseconds(-300)), now.advanced(by: .seconds(1))])
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: _ = try await redis.sweep(attempt.name, of: dead, lastBeat: beat, until: until)
        case 4: _ = try await redis.sweep([.session(attempt.name)], of: dead, until: until)
        case 5: _ = try await redis.claimSweep(of: dead, by: pick(workers), limit: 100)
        case 6: try await redis.unrecord([.session(attempt.name)], of: dead)
        case 7:
            let entry = EntryName(session: attempt.name, conversation: pick(conversations))
            if chance(30) { try await redis.unrecord([.entry(entry)], of: dead) }
            _ = try await redis.record(entry, of: dead, until: until)
            if chance(50) { _ = try await redis.sweep([.entry(entry)], of: dead, until: until) }
        default: _ = try await redis.record([attempt.name, pick(attempts).name], of: dead, until: until)
        }
    }

    private mutating func read(_ redis: some Contract) async throws {
        let attempt = pick(attempts)
        switch Int.random(in: 0..<5, using: &random) {
        case 4: _ = try await redis.person(of: pick(users))
        case 0:
            let known = KnownWorkers(own: pick(workers + [nil]), living: Set([pick(workers), pick(workers)]))
            _ = try await redis.presence(of: [alice, bob, user("carol")], known: known)
        case 1: _ = try await redis.audit([attempt.name, pick(attempts).name], of: pick(workers))
        case 2: _ = try await redis.members(of: pick(conversations))
        default:
            _ = try await redis.room(
                pick(conversations), users: pick([[], [bob], [alice, bob]]), withTyping: chance(70),
                mostMembers: chance(70) ? 100 : 0, mostHere: pick([0, 1, 100]))
        }
    }

    private mutating func lease(_ redis: some Contract) async throws {
        let (worker, lease) = (pick(workers), Duration.milliseconds(pick([80, 400])))
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: _ = try await redis.heartbeat(.begin(worker), lease: lease)
        case 2: _ = try await redis.heartbeat(.renew(worker), lease: lease)
        case 3:
            _ = try await redis.heartbeat(.end(worker, after: .milliseconds(pick([0, 60]))), lease: .seconds(5))
        case 4: _ = try await redis.forget(worker)
        default: _ = try await redis.standing(of: worker)
        }
    }

    // MARK: Conversations

    private mutating func type(at now: Timestamp, _ redis: some Contract) async throws {
        guard let last = signals.last, chance(40) else {
            let expiry = now.advanced(by: .milliseconds(pick([-5, 0, 1, 2, 40, 90, 300, 10_000])))
            let signal = TypingSignal(
                user: pick(users), device: pick([phone, tablet]), conversation: pick(conversations), expiry: expiry,
                kind: pick([.typing, .typing, .recording, .thinking]), name: pick([nil, "Ada", "{x} y", "Bob"]))
            signals.append(signal)
            _ = try await redis.signalTyping(signal, isOpen: chance(70))
            return
        }
        var stop = chance(50) ? last : pick(signals)
        stop.expiry = stop.expiry.advanced(by: .milliseconds(pick([0, 0, 0, -1, 20_000])))
        _ = try await redis.stopTyping(stop)
    }

    private mutating func enter(at now: Timestamp, _ redis: some Contract) async throws {
        let data = pick([nil, nil, "{}", #"{"section":[4,"a/b"]}"#])
        let content = HereWrite.Content(
            isIdle: chance(40), name: pick([nil, "Ada", "\"B/\""]), data: data.map(HereData.of))
        guard chance(75) else {
            // What apps' servers say.
            let content = chance(65) ? content : nil
            _ = try await redis.write(
                HereWrite(
                    entry: EntryName(ofServersFor: pick(users), in: pick(conversations)),
                    content: content, incarnation: pick(workers),
                    sequence: pick([0, 0, 3, now.milliseconds, now.milliseconds + 1]),
                    until: now.advanced(by: .seconds(50)),
                    isOwnExit: content == nil, lasts: .seconds(pick([0, 3, 300])),
                    renews: pick([nil, nil, pick(workers)])))
            return
        }
        _ = try await redis.write(
            HereWrite(
                entry: EntryName(session: pick(attempts).name, conversation: pick(conversations)),
                content: chance(65) ? content : nil, incarnation: pick(workers),
                sequence: Int64(Int.random(in: 1...6, using: &random)),
                until: now.advanced(by: .milliseconds(pick([50_000, 50_000, 50_000, -1, 0, 63_000]))),
                isOpen: chance(70), replaced: pick([nil, nil, pick(attempts).name.session]),
                since: pick([nil, nil, now.advanced(by: .seconds(-3)), now.advanced(by: .seconds(3))])))
    }

    private mutating func changeMembers(_ redis: some Contract) async throws {
        let (conversation, name) = (pick(conversations), pick(["Someone", "\"Ä\"", ""]))
        switch Int.random(in: 0..<9, using: &random) {
        case 6: try await redis.dropAccess(of: pick([nil, alice, bob]), to: conversation)
        case 7, 8:
            let now = try await redis.time()
            let people: [UserID]? = pick([nil, [], [alice, bob], [bob]])
            let duration = Duration.milliseconds(pick([1, 3000, 3_600_000]))
            let answers: [AccessAnswer] = [.deny(for: .seconds(5)), .allow(for: duration, people: people)]
            let answer = pick(answers)
            _ = try await redis.write(
                AccessWrite(
                    AccessQuestion(user: pick(users), conversation: conversation), answer,
                    sent: now.advanced(by: .milliseconds(pick([-2000, 0, 2000])))))
        case 0: try await redis.setMembers(pick([[:], [alice: name], [alice: "A", bob: name]]), of: conversation)
        case 1, 2: try await redis.setMember(pick(users), name: name, of: conversation)
        case 3: try await redis.removeMember(pick(users), of: conversation)
        case 4: try await redis.deleteMembers(of: conversation)
        default:
            try await redis.announce(
                pick([
                    .replaced(user: alice, device: phone, session: "1-aa"), .erased(alice),
                    .hereEnded(EntryName(ofServersFor: alice, in: lounge), upTo: 1),
                ]), to: pick(workers))
        }
    }

    // MARK: Randomness

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}
