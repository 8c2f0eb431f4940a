// The client that an app holds, one for its signed-in user. Except for `async` methods, every call returns at once and
// may come from any thread or actor; the work is done on the client's queue.

/// A device's connection to Rollcall: observes presence and typing, and reports this device's own.
///
///     let rollcall = RollcallClient(url: "wss://chat.example/v1/connect") { try await freshToken() }
///     rollcall.connect()
///     for await typing in rollcall.typing(in: "c42") {
///         label.text = TypingText.english.text(for: typing)
///     }
///
/// The client reconnects without limit. After a reconnect, its streams emit the current state. It reports what somebody has to
/// fix in ``RollcallClient/connection`` (``ConnectionState/failed(_:)``), and tries again ever more rarely. It gives up only
/// on a wrong argument, if the user is signed out, if an operator ended the session, or if a newer session of the same device
/// replaced it.
///
/// Every method may be called on any thread or actor. Values arrive in order within one stream, and in no fixed order
/// between streams.
///
/// The client lives until it is closed, or until the app holds neither the client nor an iterator of its streams, nor
/// one of its typing inputs. Then it says goodbye, and this device no longer counts for its user's presence.
public final class RollcallClient: Sendable {
    let engine: Engine
    let options: ClientOptions
    /// What ``followApp(from:restAfter:)`` listens to, until it is released.
    let follower = Locked<(any Sendable)?>(nil)
    /// Shared by all models of this client, while there are any.
    @MainActor weak var freshness: Freshness?

    /// Creates a client for the workers at one address. It does nothing until ``connect()``.
    ///
    /// - Parameters:
    ///   - url: the `ws://` or `wss://` URL of a worker, or of a load balancer for several, such as
    ///     `wss://chat.example/v1/connect`. If it is invalid, ``connect()`` leads to ``ConnectionState/failed(_:)``
    ///     with the code `invalid_url`.
    ///   - device: the device's name, which is unique among the user's devices. By default each client draws a name of its
    ///     own, unless the token names the device (claim `device`). Give one only to a device that connects as itself again
    ///     and again, such as a kiosk: a newer session of the same device ends the older one for good
    ///     (``RollcallError/Code/replaced``).
    ///   - options: the settings of the client.
    ///   - token: returns a token for the user; may run on any thread. It is called before the first connection, some
    ///     time before the token expires (if it is a JWT with an expiry), and when a worker has refused the token:
    ///     ``TokenRequest`` says why. One call serves all who wait, and its answer counts whenever it comes. It is called again
    ///     beside it if it has not answered after a minute, or after 10 s if the network changes or the user returns; at most two
    ///     calls wait. If it throws, or returns an empty token, the client calls it again after ever longer pauses, up to 15 s
    ///     (see ``TokenUnavailable``); if it had no network (`URLError` or Firebase says so, or a ``RollcallError`` with the code
    ///     `unreachable`), as soon as a connection would be tried. A ``RollcallError`` with the code `bad_token` says that the
    ///     user is signed out: it ends the session and the attempts, also while connected, until ``connect()``. A token of
    ///     another user than the last session's leads to ``RollcallError/Code/anotherUser``: call ``disconnect()`` before
    ///     another user signs in.
    public convenience init(
        url: String, device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable (TokenRequest) async throws -> String
    ) {
        self.init(urls: [url], device: device, options: options, token: token)
    }

    /// The same with a token callback that need not know why it is called.
    public convenience init(
        url: String, device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        self.init(urls: [url], device: device, options: options, token: token)
    }

    /// Creates a client for several workers without a load balancer. The client tries them in random order, and moves
    /// on to the next when a worker does not answer or a connection ends. At least one URL is required. The other
    /// parameters are those of the initialiser with one `url`.
    public convenience init(
        urls: [String], device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable (TokenRequest) async throws -> String
    ) {
        self.init(
            urls: urls, device: device, options: options, token: TokenSource(token),
            over: .standard(trusting: options.trustedCertificates))
    }

    /// The same with a token callback that need not know why it is called.
    public convenience init(
        urls: [String], device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        self.init(urls: urls, device: device, options: options) { (_: TokenRequest) in try await token() }
    }

    /// Creates a client that runs in this environment only.
    ///
    /// - Parameters:
    ///   - urls: `nil` for a worker that is reached without a URL.
    ///   - dial: makes a wire to the worker.
    package convenience init(
        urls: [String]? = nil, device: DeviceID?, options: ClientOptions, token: TokenSource,
        in environment: Environment, dial: @escaping Dial
    ) {
        let network = Network(environment: environment, dial: .success(dial))
        self.init(urls: urls, device: device, options: options, token: token, over: network)
    }

    init(urls: [String]?, device: DeviceID?, options: ClientOptions, token: TokenSource, over network: Network) {
        self.options = options
        var random = network.environment.jitter
        let way = Result { () throws(RollcallError) in
            let dial = try network.dial.get()
            guard let urls else { return (Route(options), dial) }
            return (try Route(urls: urls, options, using: &random), dial)
        }
        engine = Engine(options, in: network.environment) {
            Connection(by: way, device: device, token: token, in: $0)
        }
    }

    deinit {
        engine.run { $0.close {} }
    }

    /// Connects, or tries again at once after ``ConnectionState/failed(_:)``. The device's presence begins with the connection.
    /// Does nothing if the client is connected, connecting or closed; skips the pause if it is waiting, but one that a worker
    /// asked for at most every 10 s.
    public func connect() {
        engine.run { $0.connect() }
    }

    /// Says goodbye and ends the connection, but not the client: this device's presence and typing end at once. What is observed
    /// stays observed, and continues with ``connect()``, which calls the token callback again: the next user may be another.
    ///
    /// In the background, `followApp()` does so.
    public func disconnect() {
        engine.run { $0.disconnect {} }
    }

    /// Says goodbye and closes the client for good: this device's presence and typing end at once, and all streams
    /// finish with an empty value: nobody types, a conversation has no members, and a user was never seen. Models then show
    /// nothing.
    public func close() {
        _ = follower.withLock { $0.take() }
        engine.run { $0.close {} }
    }

    /// Closes the client like ``close()``, and waits until the goodbye is sent, at most two seconds.
    public nonisolated(nonsending) func shutdown() async {
        _ = follower.withLock { $0.take() }
        await engine.answer { done in engine.run { $0.close { done(()) } } }
    }
}

// What the app reports about its device and its user's input.
extension RollcallClient {
    /// Reports the app's phase, as the platform reports it.
    ///
    /// In the background, the user's typing ends at once in all conversations. When the app returns from the
    /// background, the client checks whether the connection still works, or reconnects at once if it is disconnected.
    public func setPhase(_ phase: AppPhase) {
        engine.run { $0.phaseChanged(to: phase) }
    }

    /// Sets the device's state directly, for apps that know more than phases and input show.
    ///
    /// `.idle` lasts until input, the phase ``AppPhase/active`` or another state is reported; `.background` until that
    /// phase or another state. `.background` ends the user's typing at once.
    public func setState(_ state: DeviceState) {
        engine.run { $0.stateSet(state) }
    }

    /// Reports that the user touched the device. Once an app has called this, the device is idle when
    /// ``ClientOptions/idleAfter`` has passed since the last call.
    public func inputHappened() {
        engine.run { $0.inputHappened() }
    }

    /// Reports that the network is back or has changed. A disconnected client reconnects at once; a connected one
    /// checks whether its connection still works, and reconnects if there is no answer within three seconds. A connection
    /// attempt that has lasted two seconds begins again, once.
    public func networkChanged() {
        engine.run { $0.networkChanged() }
    }

    /// Calls ``ClientOptions/names`` again, for every user: call it when contacts have been loaded or renamed. The names that
    /// are shown stay until the answers come.
    public func namesChanged() {
        engine.run { $0.namesChanged() }
    }

    /// Returns a typing input for one input field. The conversation stays joined until the input is released or
    /// ``TypingInput/disappeared()`` is called.
    public func typingInput(in conversation: ConversationID) -> TypingInput {
        TypingInput(in: conversation, of: self)
    }
}

// What a client shows: streams of current state, and presence read once.
extension RollcallClient {
    /// Who is typing in a conversation: the current state, then every change. The conversation stays joined while the
    /// stream is iterated.
    ///
    /// Emits nothing before the worker's first answer. If the worker refuses, ``Typing/refusal`` says why.
    public func typing(in conversation: ConversationID) -> Updates<Typing> {
        Updates(client: self) { $0.observeTyping(in: conversation, $1) }
    }

    /// The members of a conversation with their names and presence: the current state, then every change. The
    /// conversation stays joined while the stream is iterated.
    ///
    /// The first value comes once the presence of all members is known, but at most one second after their names. If
    /// the worker refuses, ``Members/refusal`` says why.
    public func members(of conversation: ConversationID) -> Updates<Members> {
        Updates(client: self) { $0.observeMembers(of: conversation, $1) }
    }

    /// A user's presence: the current state, then every change. Emits nothing while the presence is unknown. While the
    /// client is disconnected, the last known presence stays; see ``isStale``.
    ///
    /// - Parameters:
    ///   - user: Whose presence.
    ///   - conversation: One of both users. Where sessions see only those with whom they share a conversation
    ///     (`access.watch: shared`), it is joined with presence while the stream is iterated, and the user looks as if never
    ///     seen without one. It filters nothing.
    public func presence(of user: UserID, in conversation: ConversationID? = nil) -> Updates<Presence> {
        Updates(client: self) { $0.observePresence(of: user, in: conversation, $1) }
    }

    /// The presence of several users as one value. Users whose presence is not known are absent from it; see ``isStale``.
    ///
    /// - Parameters:
    ///   - users: Whose presence.
    ///   - conversation: One of all of them, as for one user.
    public func presence(
        of users: some Sequence<UserID>, in conversation: ConversationID? = nil
    ) -> Updates<[UserID: Presence]> {
        let users = Array(Set(users))
        return Updates(client: self) { $0.observePresence(of: users, in: conversation, $1) }
    }

    /// Who is typing in each conversation of a list, and the presence of these people: the current state of all rows, then
    /// every change, at most once per event. Each conversation stays joined while the stream is iterated, and shares its row's
    /// people with this session.
    ///
    /// When rows scroll in and out, iterate a new stream with the new rows before you end the old one: what both have is
    /// neither given up nor asked for again.
    public func conversations(_ rows: [ConversationID: [UserID]]) -> Updates<[ConversationID: ConversationState]> {
        Updates(client: self) { $0.observeConversations(rows, $1) }
    }

    /// The state of the connection: the current state, then every change. A slow reader misses intermediate states.
    public var connection: Updates<ConnectionState> {
        Updates(client: self) { $0.observeConnection($1) }
    }

    /// Whether there has been no connection for ``ClientOptions/staleAfter``, also before the first; or whether this process
    /// slept for as long, and the worker has not answered since: the current value, then every change. Models then show no
    /// user's presence.
    ///
    /// After the connection was down for so long, nobody's presence is known until a new one has confirmed it, user by user:
    /// models and streams of several users or members lack it, while a stream of one user emits it again when it comes.
    public var isStale: Updates<Bool> {
        Updates(client: self) { $0.observeStaleness($1) }
    }

    /// Errors that did not end the connection, for logs: also why a conversation is not shown, once for each reason. Emits errors that occur while the stream is iterated; a slow
    /// reader gets only the latest.
    public var problems: Updates<RollcallError> {
        Updates(client: self) { $0.observeProblems($1) }
    }

    /// The current time on the worker's clock; `nil` before the first connection. "Last seen" texts use it, so a wrong
    /// clock on this device does not matter. If the worker's clock is set, this follows within a minute while presence
    /// is observed in the foreground, and otherwise after the next reconnect.
    public var serverTime: Timestamp? {
        engine.shared.withLock { $0.clock.time(at: engine.now) }
    }

    /// Since when what the client shows of others may be old, because the connection is down: when something last arrived,
    /// on the worker's clock. `nil` while connected, and before the first connection. Changes with ``connection``.
    public var staleSince: Timestamp? {
        engine.shared.withLock { shared in shared.staleSince.flatMap { shared.clock.time(at: $0) } }
    }

    /// Returns a user's current presence; `nil` if there was no answer within `limit`, for example because the client
    /// is disconnected. Returns early if the task is cancelled or the client is closed.
    ///
    /// - Parameters:
    ///   - user: Whose presence.
    ///   - conversation: One of both users, as for a stream. It stays joined until the answer.
    ///   - limit: How long to wait.
    public nonisolated(nonsending) func currentPresence(
        of user: UserID, in conversation: ConversationID? = nil, within limit: Duration = .seconds(5)
    ) async -> Presence? {
        await currentPresence(of: CollectionOfOne(user), in: conversation, within: limit)[user]
    }

    /// Returns the current presence of several users. Users without an answer within `limit` are absent.
    /// Returns what is known so far if the task is cancelled or the client is closed.
    ///
    /// - Parameters:
    ///   - users: Whose presence.
    ///   - conversation: One of all of them, as for one user.
    ///   - limit: How long to wait.
    public nonisolated(nonsending) func currentPresence(
        of users: some Sequence<UserID>, in conversation: ConversationID? = nil, within limit: Duration = .seconds(5)
    ) async -> [UserID: Presence] {
        if Task.isCancelled { return [:] }
        let read = Read(of: users, in: conversation)
        let engine = self.engine
        return await withTaskCancellationHandler {
            await engine.answer { answer in
                engine.run { $0.people.begin(read, within: limit, done: answer) }
                // If the task was cancelled before the call was registered, `onCancel` ended nothing. So end it now.
                if Task.isCancelled { engine.run { $0.people.end(read) } }
            }
        } onCancel: {
            engine.run { $0.people.end(read) }
        }
    }

    /// Waits on the client's clock, or until the worker's clock is found to have been set, the task is cancelled or the
    /// client is closed. The wait is registered before the caller's actor runs anything else, so a test that moves the
    /// clock sees it.
    ///
    /// - Returns: false if the client is closed or the task is cancelled, so that waiting again makes no sense.
    func pause(_ duration: Duration, isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
        if Task.isCancelled { return false }
        let (pause, engine) = (Pause(), self.engine)
        let goesOn = await withTaskCancellationHandler(
            operation: {
                await engine.answer(isolation: actor) { done in
                    engine.run { $0.begin(pause, for: duration, done) }
                    if Task.isCancelled { engine.run { $0.end(pause) } }
                }
            }, onCancel: { engine.run { $0.end(pause) } }, isolation: actor)
        return goesOn && !Task.isCancelled
    }
}

// For tests.
extension RollcallClient {
    /// Whether messages wait because of the worker's rate limit. On the client's queue only.
    package var isBehind: Bool { engine.isBehind }

    /// Whether a task of the app has not continued yet with what it waited for.
    package var isAnswering: Bool { engine.answersOnTheirWay.withLock { $0 > 0 } }

    /// Whether a call to the app, for a token or a name, has not returned yet.
    package nonisolated(nonsending) var isAwaitingItsApp: Bool {
        get async {
            await withCheckedContinuation { answer in
                engine.run { answer.resume(returning: $0.connection.isAwaitingToken || $0.names.isAsking) }
            }
        }
    }
}
