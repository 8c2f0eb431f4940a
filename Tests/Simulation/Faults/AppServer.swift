// An app's server that says who may join: slow, away and broken at times, and it changes its mind.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// Answers questions about one conversation, which has no members.
final class AppServer {
    enum Reply {
        case answers([(question: AccessQuestion, answer: AccessAnswer)])
        case failure(AccessQueue.Failure)
    }

    private unowned let world: World
    private let chance: Chance
    private let conversation: ConversationID
    /// How long it admits users. A short time makes workers ask again in each run.
    private let lasting: Duration
    private var denied: Set<UserID> = []
    /// When it last changed its mind, and Redis was told.
    private var changed: [UserID: Instant] = [:]
    /// Users whose admissions are to be dropped once Redis is there.
    private var undropped: Set<UserID> = []
    /// When answers that were on their way last counted for nothing.
    private var lastDrop = Instant(nanoseconds: 0)
    private var trouble: AccessQueue.Failure?
    private var troubleEnds = Instant(nanoseconds: 0)
    private var asked: [ObjectIdentifier: [AccessQuestion]] = [:]

    init?(_ world: World) {
        guard world.settings.asksAccess else { return nil }
        self.world = world
        chance = world.deviceChance.fork()
        conversation = world.conversations[1]
        lasting = chance.pick([.seconds(12), .seconds(86_400)])
    }

    func begin() {
        world.agenda.after(chance.duration(in: .milliseconds(500)...Duration.seconds(5))) { [self] in
            if !world.isStill { act() }
            if !world.isStill || !undropped.isEmpty { begin() }
        }
    }

    private func act() {
        if world.redis.isAwake, world.redis.refusal == nil {
            for user in undropped.sorted() { drop(user) }
            if chance.happens(0.5) { changeMind() }
        }
        guard trouble == nil, chance.happens(0.3) else { return }
        trouble = chance.pick([.away(retryAfter: nil), .away(retryAfter: .seconds(2)), .unusable])
        let duration = chance.duration(in: .seconds(1)...Duration.seconds(8))
        world.trace.note("app", "answers nothing for \(duration.text)")
        troubleEnds = world.agenda.now + duration
        world.agenda.after(duration) { [self] in trouble = nil }
    }

    private func changeMind() {
        let user = chance.pick(world.users)
        if denied.remove(user) == nil { denied.insert(user) }
        world.trace.note("app", "\(denied.contains(user) ? "denies" : "admits") \(user)")
        undropped.insert(user)
        drop(user)
    }

    private func drop(_ user: UserID) {
        guard undropped.remove(user) != nil else { return }
        (changed[user], lastDrop) = (world.agenda.now, world.agenda.now)
        world.turned()
        _ = world.redis.change { $0.dropAccess(of: chance.happens(0.8) ? user : nil, to: conversation) }
    }

    /// A worker asks.
    func ask(
        _ questions: [AccessQuestion], from worker: SimulatedWorker,
        reply: @escaping (Reply) -> Void
    ) {
        let key = ObjectIdentifier(worker)
        let others = asked[key] ?? []
        if questions.contains(where: others.contains) || Set(questions).count < questions.count {
            world.checks.fail("asked once", "\(worker.name) asks twice at the same time")
        }
        asked[key] = others + questions
        var generator = chance.kept()
        let answers = questions.shuffled(using: &generator).map { question in
            let isAllowed = question.conversation == conversation && !denied.contains(question.user)
            return (question, isAllowed ? .allow(for: lasting, people: nil) : AccessAnswer.deny(for: .seconds(1)))
        }
        let trouble = trouble
        world.agenda.after(chance.duration(in: .milliseconds(5)...Duration.milliseconds(400))) { [self] in
            worker.process.arrives { [self] in
                asked[key]?.removeAll(where: questions.contains)
                reply(trouble.map { .failure($0) } ?? .answers(answers))
            }
        }
    }

    /// Whether a join may wait for an answer.
    func mayWait(in conversation: ConversationID, asKnownAt places: [Weather.Place]) -> Bool {
        conversation == self.conversation
            && world.calm(at: places) < max(troubleEnds + .seconds(10), lastDrop + .seconds(4))
    }

    /// Whether a user may be there, as workers should know; `nil` while they may not yet.
    func admits(_ user: UserID, asKnownAt places: [Weather.Place]) -> Bool? {
        // What happened before that must be known.
        let known = world.calm(at: places)
        let changed = changed[user] ?? Instant(nanoseconds: 0)
        guard !undropped.contains(user) else { return nil }
        // Redis may have gone back to a state before the drop.
        if let lost = world.truth.dataLost, known < lost + lasting + .seconds(40) { return nil }
        // Four commands may each be answered more than a second late.
        let isAsked = max(changed + .seconds(10), troubleEnds + .seconds(10))
        guard denied.contains(user) else { return known < isAsked ? nil : true }
        return known < min(isAsked, changed + .seconds(36)) ? nil : false
    }
}
