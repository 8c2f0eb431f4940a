// An async sequence of the current state of one thing. Each iterator is a separate observer: it gets the latest value
// first, and skips values instead of queueing them. Leaving the loop, cancelling its task or releasing the iterator
// ends the observation.

/// The latest value of something, and then its changes. A slow reader skips intermediate values.
///
/// It can be iterated many times, also at the same time. Each iterator may be used by one task at a time. Iteration
/// ends when the client is closed or the task is cancelled.
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

        /// Takes the unread value, if there is one, without waiting. For readers that move the client's clock
        /// themselves.
        package func pending() -> Element? { subscription.mailbox.pending() }
    }
}

/// The observation that an iterator holds. It ends when this is released.
final class Subscription<Element: Sendable>: Sendable {
    let id = ObserverID()
    let mailbox = Mailbox<Element>()
    /// Keeps the client alive during the loop, even if the app has released it.
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

/// An observer, unique in the process.
struct ObserverID: Hashable, Sendable {
    private let number = SerialNumber()
}
