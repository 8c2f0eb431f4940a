// An async sequence of the present state of one thing. Each iterator is an observer of its own: it gets the latest
// value first, and a slow one skips values rather than pile them up. Breaking off the loop, cancelling its task or
// letting go of the iterator ends the observation; nothing else need be closed.

/// The latest value of something, and every change that its reader is quick enough to see.
///
/// It may be iterated many times, at once too. It ends when the client is closed, or its task is cancelled.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never

    let client: RollcallClient
    let observe: @Sendable (Engine, ObserverID, AsyncStream<Element>.Continuation) -> Void

    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let observer = ObserverID()
        let engine = client.engine
        continuation.onTermination = { _ in engine.run { $0.observerGone(observer) } }
        engine.run { [observe] in observe($0, observer, continuation) }
        return Iterator(base: stream.makeAsyncIterator(), client: client)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<Element>.Iterator
        /// An observed client lives: its owner's last mention of it may stand before the loop.
        let client: RollcallClient

        public mutating func next() async -> Element? {
            await base.next()
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await base.next(isolation: actor)
        }
    }
}

/// One observer, told from all others of the process.
struct ObserverID: Hashable, Sendable {
    private let number = SerialNumber()
}
