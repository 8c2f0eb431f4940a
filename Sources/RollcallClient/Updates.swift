// An async sequence of the present state of one thing. Each iterator is an observer of its own: it gets the latest
// value first, and a slow one skips values rather than pile them up. Breaking off the loop, cancelling its task or
// letting go of the iterator ends the observation; nothing else need be closed.

/// The latest value of something, and every change that its reader is quick enough to see.
///
/// It may be iterated many times, at once too. It ends when the client is closed, or its task is cancelled.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never

    let client: RollcallClient
    let observe: @Sendable (Engine, ObserverID, Mailbox<Element>) -> Void

    public func makeAsyncIterator() -> Iterator {
        let subscription = Subscription<Element>(of: client)
        let (id, mailbox) = (subscription.id, subscription.mailbox)
        client.engine.run { [observe] in observe($0, id, mailbox) }
        return Iterator(subscription: subscription)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<Element>

        public mutating func next() async -> Element? {
            await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.next(isolation: actor)
        }

        /// The value that nobody has read yet, if there is one: for a reader that moves the client's time itself, and so has
        /// nothing to wait for.
        package func pending() -> Element? { subscription.mailbox.pending() }
    }
}

/// What an iterator holds, and with which the observation ends.
final class Subscription<Element: Sendable>: Sendable {
    let id = ObserverID()
    let mailbox = Mailbox<Element>()
    /// An observed client lives: its owner's last mention of it may stand before the loop.
    private let client: RollcallClient

    init(of client: RollcallClient) {
        self.client = client
    }

    deinit {
        end()
    }

    func next(isolation actor: isolated (any Actor)?) async -> Element? {
        await withTaskCancellationHandler(
            operation: { await mailbox.next(isolation: actor) }, onCancel: { end() }, isolation: actor)
    }

    private func end() {
        mailbox.finish()
        client.engine.run { [id] in $0.observerGone(id) }
    }
}

/// One observer, told from all others of the process.
struct ObserverID: Hashable, Sendable {
    private let number = SerialNumber()
}
