// An async sequence of the current state of one thing. Each iterator is a separate observer: it gets the latest value
// first, and skips values instead of queueing them. Leaving the loop, cancelling its task or releasing the iterator
// ends the observation.

#if canImport(Combine)
    public import Combine
#endif

/// The latest value of something, and then its changes. A slow reader skips intermediate values.
///
/// It can be iterated many times, also at the same time. Each iterator may be used by one task at a time. Iteration
/// ends when the client is closed or the task is cancelled.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never

    let client: RollcallClient
    let observe: @Sendable (Engine, Mailbox<Element>) -> Void

    public func makeAsyncIterator() -> Iterator {
        let subscription = Subscription<Element>(of: client)
        client.engine.run { [observe, mailbox = subscription.mailbox] in observe($0, mailbox) }
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

extension Updates {
    /// Passes every element to `owner` on the main actor, for code without `async` or SwiftUI, such as a view controller:
    ///
    ///     typing = rollcall.typing(in: "c42").observe(for: self) { $0.label.text = words.text(for: $1) }
    ///
    /// - Returns: what ends the observation when it is released, so keep it in the owner. It also ends with the owner or the
    ///   client.
    @MainActor
    public func observe<Owner: AnyObject & Sendable>(
        for owner: Owner, _ receive: @escaping @MainActor (Owner, Element) -> Void
    ) -> UpdatesObserver {
        // Begins at once, so that a model may replace what it follows without a gap.
        let subscription = makeAsyncIterator().subscription
        return UpdatesObserver(
            Task { @MainActor [weak owner] in
                while let element = await subscription.next(isolation: MainActor.shared) {
                    guard let owner else { return }
                    receive(owner, element)
                }
            })
    }

    #if canImport(Combine)
        /// The elements as a publisher, on the main actor. Each subscriber is an observer of its own, and ends when it is
        /// cancelled. Completes when the client is closed.
        public var publisher: AnyPublisher<Element, Never> {
            Deferred {
                let subject = Unchecked(value: CurrentValueSubject<Element?, Never>(nil))
                let task = Task { @MainActor in
                    for await element in self { subject.value.send(element) }
                    subject.value.send(completion: .finished)
                }
                return subject.value.compactMap { $0 }.handleEvents(receiveCancel: { task.cancel() })
            }.eraseToAnyPublisher()
        }

        /// A subject, to which only the main actor sends.
        private struct Unchecked<Value>: @unchecked Sendable {
            let value: Value
        }
    #endif
}

/// Ends an observation when it is released.
public final class UpdatesObserver: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
        self.task = task
    }

    deinit {
        task.cancel()
    }
}

extension Updates<ConnectionState> {
    /// The current state of the connection. May be read on any thread.
    public var latest: ConnectionState { client.engine.shared.withLock { $0.state } }
}

/// The observation that an iterator holds. It ends when this is released.
final class Subscription<Element: Sendable>: Sendable {
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
            operation: { await client.engine.answer(isolation: actor) { mailbox.read($0) } }, onCancel: { end() },
            isolation: actor)
    }

    private func end() {
        mailbox.finish()
        client.engine.run { [mailbox] in $0.end(ObjectIdentifier(mailbox)) }
    }
}

/// Holds at most one value, the newest, for one reader, or lets the reader wait for it.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var value: Element?
        var reader: (@Sendable (Element?) -> Void)?
        var isOver = false
    }

    private let state = Locked(State())

    /// Stores a value, or passes it to the waiting reader. Replaces an unread value.
    func put(_ element: Element) {
        let reader = state.withLock { state -> (@Sendable (Element?) -> Void)? in
            guard !state.isOver else { return nil }
            if state.reader == nil { state.value = element }
            return state.reader.take()
        }
        reader?(element)
    }

    /// Removes and returns the unread value, if there is one.
    func pending() -> Element? { state.withLock { $0.value.take() } }

    /// Ends the mailbox. An unread value can still be read.
    func finish() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader.take()
        }
        reader?(nil)
    }

    /// Passes the next value to `reader`, or `nil` after the last. Only one reader may wait at a time.
    func read(_ reader: @escaping @Sendable (Element?) -> Void) {
        let (isReady, value) = state.withLock { state -> (Bool, Element?) in
            precondition(state.reader == nil, "one iterator is read by two tasks at once")
            if let value = state.value.take() { return (true, value) }
            if !state.isOver { state.reader = reader }
            return (state.isOver, nil)
        }
        if isReady { reader(value) }
    }
}

extension Engine {
    /// Lets the caller's task wait for the answer to a question, which is given once, on any thread.
    ///
    /// Swift resumes a task through the global executor even if its actor is free, so the task may continue after
    /// work that its actor got later. A test with a fake worker waits until no answer is on its way.
    func answer<Answer: Sendable>(
        isolation actor: isolated (any Actor)? = #isolation, to ask: (@escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        let answer = await withCheckedContinuation(isolation: actor) { done in
            ask { [answersOnTheirWay] in
                answersOnTheirWay.withLock { $0 += 1 }
                done.resume(returning: $0)
            }
        }
        answersOnTheirWay.withLock { $0 -= 1 }
        return answer
    }
}

// Observing. The first observer of a thing makes the client ask the worker for it, and the last one makes the client give
// it up.
extension Engine {
    /// - Parameter observe: begins the observation, and returns a function that ends it.
    func begin<Element>(_ mailbox: Mailbox<Element>, _ observe: () -> () -> Void) {
        guard !isClosed else { return mailbox.finish() }
        observations[ObjectIdentifier(mailbox)] = (observe(), { mailbox.finish() })
    }

    func end(_ observation: ObjectIdentifier) {
        observations.removeValue(forKey: observation)?.release()
    }

    func observeConnection(_ mailbox: Mailbox<ConnectionState>) {
        begin(mailbox) { connectionState.add { mailbox.put($0) } }
    }

    func observeStaleness(_ mailbox: Mailbox<Bool>) {
        begin(mailbox) { staleness.add { mailbox.put($0) } }
    }

    func observePerson(_ mailbox: Mailbox<Person>) {
        begin(mailbox) { person.shown.add { mailbox.put($0) } }
    }

    func observeProblems(_ mailbox: Mailbox<RollcallError>) {
        begin(mailbox) { problems.add { mailbox.put($0.error) } }
    }

    func observePresence(of user: UserID, in conversation: ConversationID?, _ mailbox: Mailbox<Presence>) {
        begin(mailbox) {
            people.observe([user], in: conversation.map { [$0] } ?? []) {
                mailbox.put($0)
            } forgotten: { [unowned self] user in
                guard people.showsNobody else { return }
                mailbox.put(Presence(user: user, status: .offline, lastSeen: nil, updatedAt: nil, version: 0))
            }
        }
    }

    /// `nil` once the presence is no longer known.
    func observeShownPresence(of user: UserID, in conversation: ConversationID?, _ mailbox: Mailbox<Presence?>) {
        begin(mailbox) {
            people.observe([user], in: conversation.map { [$0] } ?? []) {
                mailbox.put($0)
            } forgotten: { _ in
                mailbox.put(nil)
            }
        }
    }

    func observePresence(
        of users: [UserID], in conversation: ConversationID?, _ mailbox: Mailbox<[UserID: Presence]>
    ) {
        begin(mailbox) { people.observeTogether(users, in: conversation) { mailbox.put($0) } }
    }

    func observeConversations(
        _ rows: [ConversationID: [UserID]], _ mailbox: Mailbox<[ConversationID: ConversationState]>
    ) {
        begin(mailbox) { rooms.observe(rows) { mailbox.put($0) } }
    }

    func observeTyping(in conversation: ConversationID, _ mailbox: Mailbox<Typing>) {
        begin(mailbox) { rooms.observe(conversation) { $0.typing.add { mailbox.put($0) } } }
    }

    func observeHere(in conversation: ConversationID, _ mailbox: Mailbox<Here>) {
        begin(mailbox) {
            rooms.observe(conversation) {
                $0.here.add {
                    mailbox.put($0)
                } forgotten: {
                    mailbox.put(Here(conversation: conversation))
                }
            }
        }
    }

    func observeMembers(of conversation: ConversationID, _ mailbox: Mailbox<Members>) {
        begin(mailbox) { rooms.observe(conversation) { $0.members.add { mailbox.put($0) } } }
    }
}
