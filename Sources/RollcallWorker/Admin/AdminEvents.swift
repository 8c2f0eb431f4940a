// Reading the stream of events over HTTP. A request may wait until there is something to tell.

import Hummingbird
import NIOConcurrencyHelpers
import RollcallProtocol
import RollcallServer

/// Answers the readers of events.
struct AdminEvents: Sendable {
    /// The most events in one answer.
    ///
    /// Limit: events in an answer of `GET /v1/events`.
    static let most = 1000
    /// The longest wait that a request can ask for.
    ///
    /// Limit: `wait` of `GET /v1/events`.
    static let longest = Duration.seconds(60)
    /// The most requests that wait at the same time.
    ///
    /// Limit: requests for events that wait at one worker. Further ones wait 1 s.
    private static let mostWaiting = 32
    /// How long all others wait, so that no reader asks without a pause.
    private static let pause = Duration.seconds(1)
    /// How often waiting requests look. No command of Redis waits, since others share the connection.
    private static let look = Duration.milliseconds(250)

    let node: any OperatorAccess
    private let waiting = NIOLockedValueBox(0)

    init(_ node: any OperatorAccess) { self.node = node }

    /// - Parameter isConnected: Whether the reader is still there.
    /// - Throws: ``AdminProblem``; ``Unavailable``.
    func answer(_ query: AdminQuery, isConnected: () -> Bool) async throws -> EventsPage {
        if let text = query.value(of: "after"), text == "latest" {
            guard let latest = try await node.latestEvent() else { throw Self.areOff }
            return EventsPage(events: [], next: latest)
        }
        let cursor = try query.eventID("after") ?? .start
        let wait = try query.duration("wait", most: Self.longest) ?? .zero
        let page = try await page(after: cursor)
        guard page.events.isEmpty, page.next == cursor, wait > .zero else { return page }
        guard mayWait() else {
            try? await Task.sleep(for: min(wait, Self.pause))
            return try await self.page(after: cursor)
        }
        defer { waiting.withLockedValue { $0 -= 1 } }
        let deadline = ContinuousClock.now + wait
        while ContinuousClock.now < deadline, !node.isDraining, isConnected() {
            try? await Task.sleep(for: min(Self.look, deadline - .now))
            let page = try await self.page(after: cursor)
            if page.next != cursor { return page }
        }
        return page
    }

    private func mayWait() -> Bool {
        waiting.withLockedValue { waiting in
            guard waiting < Self.mostWaiting else { return false }
            waiting += 1
            return true
        }
    }

    private static let areOff = AdminProblem(.notFound, "events are off: set events.enabled on all workers")

    private func page(after cursor: EventID) async throws -> EventsPage {
        guard let page = try await node.eventsPage(after: cursor, limit: Self.most) else {
            throw Self.areOff
        }
        return page
    }
}

extension AdminQuery {
    fileprivate func eventID(_ name: ByteString) throws(AdminProblem) -> EventID? {
        guard let text = value(of: name) else { return nil }
        guard let id = EventID(text) else {
            throw AdminProblem(
                .badRequest, "the \(name) must be the next of an earlier answer, 0 for the oldest event, or latest")
        }
        return id
    }

    fileprivate func duration(_ name: ByteString, most: Duration) throws(AdminProblem) -> Duration? {
        guard let text = value(of: name) else { return nil }
        guard let duration = DurationText.duration(text), duration <= most else {
            throw AdminProblem(
                .badRequest, "the \(name) must be a duration of at most \(DurationText.text(most)), such as 30s")
        }
        return duration
    }
}
