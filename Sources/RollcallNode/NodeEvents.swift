// The stream of events as an async sequence, for a server that embeds a node.

internal import RollcallProtocol
internal import RollcallServer

/// Who came and who went, in order: ``RollcallNode/events(after:)``.
///
/// It waits while Redis is away, and goes on after the last event. It ends when its task is cancelled.
public struct NodeEvents: AsyncSequence, Sendable {
    /// Events are off: `events.enabled` is not set, or Redis is a cluster.
    public struct Off: Error, Hashable, Sendable {}

    /// How often the stream is read when there is nothing new.
    private static let look = Duration.milliseconds(250)
    private static let most = 1000

    fileprivate let node: Node
    fileprivate let cursor: EventID

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let node: Node
        fileprivate var page: EventsPage
        fileprivate var isFirst = true

        /// - Throws: ``Off``; `CancellationError`.
        public mutating func next() async throws -> Event? {
            while page.events.isEmpty {
                if !isFirst { try await Task.sleep(for: NodeEvents.look) }
                isFirst = false
                try Task.checkCancellation()
                do {
                    let read = try await node.eventsPage(after: page.next, limit: NodeEvents.most)
                    guard let read else { throw Off() }
                    page = EventsPage(events: read.events.reversed(), next: read.next)
                } catch is Unavailable {}
            }
            return page.events.popLast()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(node: node, page: EventsPage(events: [], next: cursor))
    }
}

extension RollcallNode {
    /// Follows who came and who went, from all workers.
    ///
    /// Keep the ``Event/id`` of the last event that you have dealt with, and pass it after a restart: no event is missed,
    /// and some may come twice. Of each user the one with the greatest version counts. After a `reset`, forget the
    /// versions and read everybody whom you keep again with ``RollcallNode/storedPresence(of:)``.
    ///
    /// - Parameter cursor: the last event that you have; by default the sequence begins with the oldest one.
    public func events(after cursor: EventID = .start) -> NodeEvents { NodeEvents(node: node, cursor: cursor) }
}
