// An application's server that follows the stream of events, as the docs tell it to: it keeps who is there, takes the greatest
// version, and reads again whom it holds after a reset.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// The only consumer of a simulation.
final class Consumer {
    private unowned let world: World
    private var cursor = EventID.start
    private var shown: [UserID: Presence] = [:]
    /// The last entry that was checked as it was appended.
    private var checked = EventID.start

    init(_ world: World) {
        self.world = world
    }

    /// Follows the stream, as slowly as a consumer may.
    func begin() {
        world.agenda.after(.seconds(3)) { [self] in
            if world.redis.isAwake { follow() }
            begin()
        }
    }

    /// Checks each entry as it is appended: one was published with it, and nothing else says that a user came or went.
    func appended(to events: [Event], with published: [Published]) {
        let told = published.compactMap { if case .presence(let change, _) = $0 { change.presence } else { nil } }
        for event in events.reversed().prefix(while: { $0.id > checked }) {
            guard case .status(let presence) = event.content, !told.contains(presence) else { continue }
            world.checks.fail("events", "\(presence.user) is \(presence.status) for the backends and for nobody else")
        }
        checked = events.last?.id ?? checked
    }

    /// Redis holds other data: entries may be missing, or stand again.
    func dataReplaced(by events: [Event]) { checked = events.last?.id ?? .start }

    private func follow() {
        let page = world.redis.change { $0.events(after: cursor) }
        var unclear: Set<UserID> = []
        for event in page.events {
            world.trace.note("backend", "reads \(event.text)")
            switch event.content {
            case .reset:
                unclear = Set(shown.filter { $0.value.status != .offline }.keys)
                for user in shown.keys { shown[user]?.version = -1 }
            case .status(let presence): take(presence)
            case .person: break
            }
        }
        cursor = page.next
        for user in unclear.sorted() { readAgain(user) }
    }

    private func take(_ presence: Presence) {
        guard shown[presence.user].map({ $0.version < presence.version }) ?? true else { return }
        shown[presence.user] = presence
    }

    /// What is stored, which is what entries tell: devices of dead workers count until they are swept.
    private func readAgain(_ user: UserID) {
        let presence = world.redis.change { $0.record(of: user) }.asWritten
        world.trace.note("backend", "finds \(user) \(presence.status) at \(presence.version)")
        take(presence)
    }

    /// Checks that it holds for each user whether they are there.
    func check() {
        follow()
        for user in world.users {
            let holds = shown[user].map { $0.status != .offline } ?? false
            let isThere = world.redis.twin.record(of: user).asWritten.status != .offline
            guard holds != isThere else { continue }
            world.checks.fail(
                "events", "a backend holds that \(user) is \(holds ? "there" : "gone"), and the opposite is true")
        }
    }
}

extension Event {
    fileprivate var text: String {
        switch content {
        case .status(let presence): "that \(presence.user) is \(presence.status) at \(presence.version)"
        case .person(let user, let person): "that \(user) decides \(person)"
        case .reset: "a reset"
        }
    }
}
