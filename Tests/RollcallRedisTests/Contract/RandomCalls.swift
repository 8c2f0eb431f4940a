// Random calls in a world small enough for collisions: two users with two devices each, three workers, two
// conversations. Many calls are late, repeated, out of order, or within the same millisecond.

import RollcallCore
import RollcallModel
import TestSupport

struct RandomCalls {
    /// A session, and what the answers have shown about it.
    private struct Attempt {
        let name: SessionName
        var incarnation = w1
        var began: Timestamp?
        var sequence: Int64 = 0
    }

    private(set) var random: SeededGenerator
    private var attempts: [Attempt] = []
    private var signals: [TypingSignal] = []
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

    /// The next call; `now` is approximately the time at which it will be made.
    mutating func next(at now: Timestamp) -> Call {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: .write(decision(at: now))
        case 30..<45: sweeping(at: now)
        case 45..<70: typing(at: now)
        case 70..<80: leasing()
        case 80..<88: changeOfMembers()
        default: reading()
        }
    }

    /// Records the result of a call.
    mutating func answered(_ call: Call, _ answer: Answer) {
        guard case .write(let write) = call, case .written(let written) = answer, written.outcome == .written,
            let index = attempts.firstIndex(where: { $0.name == write.name })
        else { return }
        attempts[index].began = written.began
        attempts[index].sequence = write.sequence
        attempts[index].incarnation = write.incarnation
    }

    /// How long to wait before the next call; mostly not at all.
    mutating func pause() -> Duration {
        guard chance(6) else { return .zero }
        return .milliseconds(Int.random(in: 1...120, using: &random))
    }

    /// How far to set Redis's clock before the next call; mostly not at all.
    mutating func step() -> Duration? {
        guard chance(5) else { return nil }
        return .milliseconds(pick([-3_600_000, -7000, -1500, -400, 300, 2000, 7000, 3_600_000]))
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
}

// MARK: Presence

extension RandomCalls {
    private mutating func decision(at now: Timestamp) -> DeviceWrite {
        let attempt = pick(attempts)
        let others = attempts.filter { $0.name.user == attempt.name.user && $0.name.device == attempt.name.device }
        // An age with which the hello may be in the same millisecond as the start of another session.
        let tie = pick(others).began.map { now.since($0) } ?? .zero
        let off = Duration.milliseconds(pick([0, 0, 0, -1, 1]))
        return DeviceWrite(
            name: attempt.name, state: pick([.active, .active, .idle, .background, nil]),
            incarnation: pick(workers), began: chance(30) ? nil : attempt.began?.advanced(by: off),
            age: pick([.zero, .milliseconds(3), .milliseconds(500), .seconds(5), tie]),
            opened: now.advanced(by: .milliseconds(pick([0, 0, -2, -400]))),
            sequence: max(0, attempt.sequence + pick([1, 1, 1, 1, 2, 0, -1])),
            lost: pick([nil, nil, nil, now.advanced(by: .milliseconds(-200)), now.advanced(by: .seconds(1))]),
            until: now.advanced(by: .milliseconds(pick([50_000, 50_000, 50_000, 50_000, -1, 0, 1, 63_000]))))
    }

    private mutating func sweeping(at now: Timestamp) -> Call {
        let attempt = pick(attempts)
        let dead = chance(70) ? attempt.incarnation : pick(workers)
        let until = now.advanced(by: .milliseconds(pick([50_000, 50_000, 50_000, 50_000, -5, 63_000])))
        let beat = pick([nil, now.advanced(by: .milliseconds(-300)), now.advanced(by: .seconds(1))])
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: return .sweep(attempt.name, of: dead, lastBeat: beat, until: until)
        case 4: return .sweepBatch([attempt.name], of: dead, until: until)
        case 5: return .claim(dead, by: pick(workers), limit: 100)
        case 6: return .unrecord([attempt.name], of: dead)
        default: return .record([attempt.name, pick(attempts).name], of: dead, until: until)
        }
    }

    private mutating func reading() -> Call {
        let attempt = pick(attempts)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let known = KnownWorkers(own: pick(workers + [nil]), living: Set([pick(workers), pick(workers)]))
            return .presence([alice, bob, user("carol")], known: known)
        case 1: return .audit([attempt.name, pick(attempts).name], of: pick(workers))
        case 2: return .members(pick(conversations))
        default:
            return .room(
                pick(conversations), pick([[], [bob], [alice, bob]]), withTyping: chance(70),
                mostMembers: chance(70) ? 100 : 0)
        }
    }

    private mutating func leasing() -> Call {
        let incarnation = pick(workers)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: return .heartbeat(.begin(incarnation), lease: .milliseconds(pick([80, 400])))
        case 2: return .heartbeat(.renew(incarnation), lease: .milliseconds(pick([80, 400])))
        case 3: return .heartbeat(.end(incarnation, after: .milliseconds(pick([0, 60]))), lease: .seconds(5))
        case 4: return .forget(incarnation)
        default: return .standing(incarnation)
        }
    }
}

// MARK: Conversations

extension RandomCalls {
    private mutating func typing(at now: Timestamp) -> Call {
        guard let last = signals.last, chance(40) else {
            let expiry = now.advanced(by: .milliseconds(pick([-5, 0, 1, 2, 40, 90, 300, 10_000])))
            let signal = TypingSignal(
                user: pick(users), device: pick([phone, tablet]), conversation: pick(conversations), expiry: expiry)
            signals.append(signal)
            return .signal(signal)
        }
        var stop = chance(50) ? last : pick(signals)
        stop.expiry = stop.expiry.advanced(by: .milliseconds(pick([0, 0, 0, -1, 20_000])))
        return .stop(stop)
    }

    private mutating func changeOfMembers() -> Call {
        let (conversation, name) = (pick(conversations), pick(["Someone", "\"Ä\"", ""]))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .setMembers(pick([[:], [alice: name], [alice: "A", bob: name]]), of: conversation)
        case 1, 2: return .setMember(pick(users), name: name, of: conversation)
        case 3: return .removeMember(pick(users), of: conversation)
        case 4: return .deleteMembers(conversation)
        default: return .announceReplaced(.init(incarnation: pick(workers), session: "1-aa"), alice, phone)
        }
    }
}

// MARK: Randomness

extension RandomCalls {
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}
