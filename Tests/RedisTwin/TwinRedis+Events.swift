// The stream of events, which device_write, person_write, sweep_device, user_erase and heartbeat append to.

public import RollcallProtocol

/// The hash `events:state`.
package struct TwinEventsState: Hashable, Sendable {
    /// The server's run for which the last reset stands.
    package var run: Int
    package var reset: Int64
}

extension TwinRedis {
    /// Appends that a user came or went; first a reset if there is no stream.
    mutating func append(_ presence: Presence) {
        append(.status(presence))
    }

    mutating func append(_ content: Event.Content) {
        if events.isEmpty, content != .reset { append(.reset) }
        let (last, now) = (events.last?.id ?? .start, UInt64(time.milliseconds))
        let id =
            now > last.milliseconds
            ? EventID(milliseconds: now, number: 0)
            : EventID(milliseconds: last.milliseconds, number: last.number + 1)
        events.append(Event(id: id, content: content, at: time))
    }

    /// What a reader gets.
    public func events(after cursor: EventID, limit: Int = .max) -> EventsPage {
        let bounds = events.first.flatMap { first in events.last.map { first.id...$0.id } }
        let isOutside = EventsPage.isOutside(cursor, of: bounds)
        let from = isOutside ? .start : cursor
        let behind = Array(events.filter { $0.id > from }.prefix(limit))
        let page = EventsPage(events: behind, next: behind.last?.id ?? from)
        return isOutside ? page.afterReset(at: time) : page
    }

    /// A new incarnation holds its lease: appends a reset if Redis may have lost data, or nobody else appends.
    ///
    /// - Returns: when the last reset was.
    mutating func resetEvents(for incarnation: Incarnation) -> Int64 {
        guard settings.appendsEvents else { return 0 }
        let others = leases.contains { $0.key != incarnation && $0.value >= time }
        if eventsState?.run != run || !others, !planted.contains(.neverResets) {
            eventsState = TwinEventsState(run: run, reset: time.milliseconds)
            append(.reset)
        }
        return eventsState?.reset ?? 0
    }

    /// Removes a user's entries but the newest of status.
    mutating func eraseEvents(of user: UserID) {
        let all = events.indices.filter {
            if case .status(let presence) = events[$0].content { presence.user == user } else { false }
        }
        for index in all.dropLast().reversed() { events.remove(at: index) }
        events.removeAll { if case .person(user, _) = $0.content { true } else { false } }
    }
}
