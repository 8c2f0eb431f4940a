// What the client's own user has decided that others see: as the worker told it last, and what the app has set since. Used on
// the client's queue only.

final class OwnPerson {
    private unowned let engine: Engine
    private var told = Person()
    let shown: Observed<Person>
    /// When what passes of it ends.
    private(set) var deadline: ContinuousClock.Instant?

    init(in engine: Engine) {
        self.engine = engine
        shown = Observed(Person()) { [shared = engine.shared] person in
            shared.withLock { $0.person = person ?? Person() }
        }
    }

    func heard(_ person: Person) {
        told = person
        changed()
    }

    func set(_ patch: PersonPatch) {
        guard !engine.isClosed else { return }
        engine.outbox.set(patch)
        changed()
        engine.changed()
    }

    /// The next user has not set it.
    func emptied() {
        told = Person()
        engine.outbox.forgetPerson()
        changed()
    }

    /// Something was told, set or answered, or has ended.
    func changed() {
        let (due, sent) = engine.outbox.person
        let set = told.changed(by: sent).changed(by: due)
        guard let time = engine.serverTime else { return shown.update(set) }
        let current = set.current(at: time)
        deadline = current.until.map { engine.now + max(.zero, $0.since(time)) }
        shown.update(current)
    }

    func deadlinePassed(at now: ContinuousClock.Instant) {
        if let deadline, now >= deadline { changed() }
    }
}
