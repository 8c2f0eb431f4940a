// When a worker asks an app's server, in which company, and what it does when that fails.

import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite("Questions to an app's server") struct AccessQueueTests {
    private func question(_ user: Int, _ conversation: String) throws -> AccessQuestion {
        AccessQuestion(user: try UserID("u\(user)"), conversation: try ConversationID(conversation))
    }

    private func ask(
        _ queue: inout AccessQueue, _ user: Int, _ conversation: String, _ need: AccessQueue.Need = .joining,
        at time: Duration = .zero
    ) throws {
        _ = queue.ask(try question(user, conversation), need, for: 0, at: at(time))
    }

    private func batches(_ queue: inout AccessQueue, at time: Duration) -> [AccessQueue.Batch] {
        var batches: [AccessQueue.Batch] = []
        while let batch = queue.next(at: at(time)) { batches.append(batch) }
        return batches
    }

    private func allow(_ batch: AccessQueue.Batch) -> [AccessQuestion: AccessAnswer] {
        Dictionary(uniqueKeysWithValues: batch.questions.map { ($0, .allow(for: .seconds(3600), people: nil)) })
    }

    @Test("users take turns, a question is in flight once for all callers, and at most four requests at once")
    func turns() throws {
        var queue = AccessQueue()
        for room in 0..<500 { try ask(&queue, 1, "r\(room)") }
        for user in 2...51 { try ask(&queue, user, "lobby") }
        _ = queue.ask(try question(2, "lobby"), .joining, for: 1, at: at(.zero))
        let sent = batches(&queue, at: .zero)
        #expect(sent.map(\.questions.count) == [100, 100, 100, 100])
        #expect(Set(sent[0].questions.map(\.user)).count == 51, "each user's first question comes first")
        let lobby = try #require(sent[0].questions.first { $0.user == "u2" })
        #expect(sent.flatMap(\.questions).count { $0 == lobby } == 1)
        let verdicts = queue.answered(sent[0], allow(sent[0]), at: at(.milliseconds(50)))
        #expect(verdicts.first { $0.question == lobby }?.callers == [0, 1])
        #expect(verdicts.allSatisfy { $0.sent == at(.zero) })
        #expect(batches(&queue, at: .milliseconds(50)).count == 1)
    }

    @Test("what was dropped comes first; renewals wait for one another, and then take every second request")
    func needs() throws {
        var queue = AccessQueue()
        try ask(&queue, 1, "a", .renewal(within: .seconds(60)))
        #expect(batches(&queue, at: .zero).isEmpty && queue.wakes == at(.seconds(10)))
        try ask(&queue, 2, "a", .joining, at: .seconds(1))
        try ask(&queue, 3, "a", .dropped, at: .seconds(1))
        let sent = batches(&queue, at: .seconds(1))
        #expect(sent.map { $0.questions.map(\.user) } == [["u3", "u2", "u1"]])
        for user in 1...400 { try ask(&queue, user, "b", .renewal(within: .seconds(60)), at: .seconds(2)) }
        for user in 1...400 { try ask(&queue, user, "c", .joining, at: .seconds(2)) }
        let mixed = batches(&queue, at: .seconds(2)).map { $0.questions.count { $0.conversation == "b" } }
        #expect(mixed == [100, 0, 100])
    }

    @Test("a dropped question overtakes, a withdrawn one is not sent, and a denial is not asked for again so soon")
    func changes() throws {
        var queue = AccessQueue()
        for user in 1...3 { try ask(&queue, user, "a", .renewal(within: .seconds(60))) }
        try ask(&queue, 3, "a", .dropped)
        queue.withdraw(try question(2, "a"), for: 0)
        let sent = batches(&queue, at: .zero)
        #expect(sent.map { $0.questions.map(\.user) } == [["u3", "u1"]])
        let deny = Dictionary(uniqueKeysWithValues: sent[0].questions.map { ($0, AccessAnswer.deny(for: .seconds(5))) })
        let verdicts = queue.answered(sent[0], deny, at: at(.seconds(1)))
        #expect(verdicts.count == 2)
        let known = queue.ask(try question(1, "a"), .joining, for: 7, at: at(.seconds(5)))
        #expect(known?.answer == .deny(for: .seconds(5)) && known?.callers == [7] && known?.sent == at(.zero))
        let dropped = queue.ask(try question(1, "a"), .dropped, for: 7, at: at(.seconds(5)))
        let later = queue.ask(try question(3, "a"), .joining, for: 7, at: at(.seconds(7)))
        #expect(dropped == nil && later == nil)
        #expect(batches(&queue, at: .seconds(7)).map(\.questions.count) == [2])
    }

    @Test("what was dropped waits for no failure before, and is asked once more with the others")
    func droppedWhileWaiting() throws {
        var queue = AccessQueue()
        try ask(&queue, 1, "r", .renewal(within: .zero))
        for time in [Duration.zero, .seconds(1), .seconds(3)] {
            let sent = batches(&queue, at: time)
            queue.failed(try #require(sent.first), .unusable, at: at(time), chance: 0)
        }
        #expect(batches(&queue, at: .seconds(4)).isEmpty)
        try ask(&queue, 1, "r", .dropped, at: .seconds(4))
        #expect(batches(&queue, at: .seconds(4)).count == 1)
    }

    @Test("one that fails is found in three requests, then goes alone, and holds up nobody")
    func poison() throws {
        var queue = AccessQueue()
        for user in 1...400 { try ask(&queue, user, user == 77 ? "poison" : "r\(user)") }
        var (time, answered, sizes) = (Duration.zero, Set<UserID>(), [Int]())
        for _ in 0..<40 {
            for batch in batches(&queue, at: time) {
                if batch.questions.contains(where: { $0.conversation == "poison" }) {
                    sizes.append(batch.questions.count)
                    queue.failed(batch, .unusable, at: at(time), chance: 0.5)
                } else {
                    answered.formUnion(queue.answered(batch, allow(batch), at: at(time)).map(\.question.user))
                }
            }
            time += .milliseconds(50)
        }
        #expect(Array(sizes.prefix(3)) == [100, 10, 1] && answered.count == 399)
        #expect(queue.failures(of: try question(77, "poison")) ?? 0 >= 1)
        // The same user's other questions wait in their own place, and so does who else is in that conversation.
        for room in 0..<100 { try ask(&queue, 77, "s\(room)", at: time) }
        try ask(&queue, 5, "poison", at: time)
        for user in 1...20 { try ask(&queue, user + 1000, "lobby", at: time) }
        let sent = batches(&queue, at: time)
        #expect(sent.map(\.questions.count).sorted() == [1, 20])
        #expect(sent.first { $0.questions.count == 20 }?.questions.contains { $0.user == "u77" } == false)
        // An answer shows that it was not the conversation.
        for batch in sent { _ = queue.answered(batch, allow(batch), at: at(time)) }
    }

    @Test("a hundred users who fail cannot keep others waiting, whether requests hang or not")
    func siege() throws {
        var queue = AccessQueue()
        for user in 1...100 { try ask(&queue, user, "bad\(user)") }
        var flying: [(batch: AccessQueue.Batch, ends: Duration)] = []
        var (time, waited) = (Duration.zero, [Duration]())
        var asked: [UserID: Duration] = [:]
        for step in 0..<1200 {
            time = .milliseconds(100) * step
            for (batch, _) in flying.filter({ $0.ends <= time }) {
                if batch.questions.contains(where: { $0.conversation.text.hasPrefix("bad") }) {
                    queue.failed(batch, .unusable, at: at(time), chance: 0.5)
                } else {
                    for verdict in queue.answered(batch, allow(batch), at: at(time)) {
                        waited.append(time - (asked[verdict.question.user] ?? .zero))
                    }
                }
            }
            flying.removeAll { $0.ends <= time }
            if step % 10 == 0 {
                try ask(&queue, 1000 + step, "good", at: time)
                asked[try UserID("u\(1000 + step)")] = time
            }
            for batch in batches(&queue, at: time) {
                let hangs = batch.questions.contains { $0.conversation.text.hasPrefix("bad") }
                flying.append((batch, time + (hangs ? .seconds(3) : .milliseconds(50))))
            }
            #expect(flying.count <= AccessQueue.mostAtOnce)
        }
        // Who was in the first request with them waits for three time limits.
        #expect(
            waited.count >= 115 && waited.max() ?? .zero <= .seconds(13), "\(waited.count) \(waited.max() ?? .zero)")
        #expect(waited.sorted()[waited.count / 2] <= .milliseconds(200))
    }

    @Test("a user whose names all fail has nobody else wait, although nobody else's answers come between")
    func lonely() throws {
        var queue = AccessQueue()
        for name in 1...200 { try ask(&queue, 1, "bad\(name)") }
        var waiting: Set<UserID> = []
        for step in 0..<600 {
            let time = Duration.milliseconds(50) * step
            #expect(step % 60 != 4 || waiting.isEmpty, "\(time)")
            if step % 60 == 0 {
                try ask(&queue, 1000 + step, "good", at: time)
                waiting.insert(try UserID("u\(1000 + step)"))
            }
            for batch in batches(&queue, at: time) {
                if batch.questions.contains(where: { $0.user == "u1" }) {
                    queue.failed(batch, .unusable, at: at(time), chance: 0.5)
                } else {
                    waiting.subtract(queue.answered(batch, allow(batch), at: at(time)).map(\.question.user))
                }
            }
        }
    }

    @Test("while the server is away it is asked one question at a time, and all is answered within 8 s of its return")
    func outage() throws {
        for retryAfter in [nil, .seconds(20), .seconds(300)] as [Duration?] {
            var queue = AccessQueue()
            for user in 1...1000 { try ask(&queue, user, "r") }
            var (time, requests, answered) = (Duration.zero, 0, 0)
            while time < .seconds(600) {
                for batch in batches(&queue, at: time) {
                    requests += 1
                    queue.failed(batch, .away(retryAfter: retryAfter), at: at(time), chance: 0)
                }
                time += .milliseconds(100)
            }
            #expect(requests <= 170 && requests >= (retryAfter == nil ? 95 : 10))
            let returned = time
            while answered < 1000, time < returned + .seconds(70) {
                let sent = batches(&queue, at: time)
                time += .milliseconds(100)
                for batch in sent { answered += queue.answered(batch, allow(batch), at: at(time)).count }
            }
            #expect(answered == 1000 && time - returned <= .seconds(retryAfter == nil ? 8 : 68))
        }
    }

    @Test("where every request fails, the server counts as away; once it answers, nobody is suspect")
    func failing() throws {
        var queue = AccessQueue()
        for user in 1...300 { try ask(&queue, user, "r\(user)") }
        var (time, requests) = (Duration.zero, 0)
        while time < .seconds(600) {
            for batch in batches(&queue, at: time) {
                requests += 1
                queue.failed(batch, .unusable, at: at(time), chance: 0)
            }
            time += .milliseconds(100)
        }
        #expect(requests < 250, "\(requests)")
        var answered = 0
        let returned = time
        while answered < 300, time < returned + .seconds(20) {
            let sent = batches(&queue, at: time)
            time += .milliseconds(50)
            for batch in sent { answered += queue.answered(batch, allow(batch), at: at(time)).count }
        }
        #expect(answered == 300 && time - returned <= .seconds(8), "\(answered) after \(time - returned)")
        try ask(&queue, 7, "r7", at: time)
        try ask(&queue, 8, "r8", at: time)
        #expect(batches(&queue, at: time).map(\.questions.count) == [2])
    }

    @Test("a question without an answer is asked again by itself, and no answer at all is a failure")
    func unanswered() throws {
        var queue = AccessQueue()
        for user in 1...3 { try ask(&queue, user, "r") }
        let sent = queue.next(at: at(.zero))
        let first = try #require(sent)
        var answers = allow(first)
        answers[try question(2, "r")] = nil
        let verdicts = queue.answered(first, answers, at: at(.zero))
        #expect(verdicts.count == 2 && batches(&queue, at: .milliseconds(900)).isEmpty)
        #expect(queue.wakes == at(.seconds(1)))
        let next = queue.next(at: at(.seconds(1)))
        let again = try #require(next)
        #expect(again.questions == [try question(2, "r")])
        let none = queue.answered(again, [:], at: at(.seconds(1)))
        #expect(none.isEmpty)
        #expect(queue.failures(of: try question(2, "r")) == 2 && queue.count == 1)
    }
}
