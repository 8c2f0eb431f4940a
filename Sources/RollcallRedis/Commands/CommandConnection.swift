// Pipelined commands: commands of one event-loop tick are sent in one write, and replies are matched to them by order.

public import Logging
public import NIOCore

/// A connection to Redis for commands, bound to an event loop, that reconnects until it is closed.
///
/// Create and use it on its event loop only; all closures are called there. The owner keeps a reference and finally
/// calls ``close()``. Commands are not queued while disconnected: a command that cannot be sent fails at once, and a
/// command without a reply fails when the connection is lost.
public final class CommandConnection {
    public let eventLoop: any EventLoop
    /// Called after each successful connect, when commands can be sent.
    public var onConnect: (() -> Void)?
    /// Called when a connection that ``onConnect`` announced is lost, after all pending commands have failed. Not
    /// called when the owner closes the connection. A `READONLY` reply counts as a loss: the server is a replica now,
    /// and the next attempt may find the new primary.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called after each failed connection attempt, before the next one starts.
    package var onFailedAttempt: ((RedisError) -> Void)?
    /// Called when Redis denies a command because of a missing right, before the command's reply is delivered.
    public var onDenied: ((RedisError) -> Void)?
    /// Whether commands can be sent: connected, authenticated, and Redis is not loading its data.
    public private(set) var isConnected = false
    /// Why there is no connection at this moment; `nil` while connected, and before the first attempt has failed.
    public private(set) var lastError: RedisError?

    private let link: Link
    private let name: String
    private let scripts: [Script]
    private let maximumWaiting: Int
    private var reader: ReplyReader<FlatDecoder>?
    private var waiting = CircularBuffer<Question>()
    /// The number of commands that wait for their replies.
    public private(set) var waitingCount = 0
    /// When data last arrived, in ticks.
    private var heardAt = 0
    private var unansweredSteps = 0
    /// The SHA-1 of each loaded script, by script name.
    private(set) var hashes: [String: String] = [:]

    /// - Parameters:
    ///   - route: provides the destination of each connection attempt.
    ///   - name: the connection's name in `CLIENT LIST`; without spaces.
    ///   - scripts: loaded on each connect, so that ``call(_:keys:arguments:reply:)`` need not send their source.
    public init(
        to route: any RedisRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings(), scripts: [Script] = []
    ) {
        precondition(Set(scripts.map(\.name)).count == scripts.count, "scripts are told apart by their names")
        self.eventLoop = eventLoop
        self.name = name
        self.scripts = scripts
        maximumWaiting = settings.maximumWaiting
        link = Link(along: route, on: eventLoop, logger: logger, settings: settings)
        link.user = self
    }

    /// Connects, and from then on reconnects. Must be called once.
    public func start() {
        link.start()
    }

    /// Closes the connection for good; pending commands fail with ``RedisError/Code/closed``.
    public func close() -> EventLoopFuture<Void> {
        link.close()
    }

    /// Drops the current connection, if any, and connects to the route's next destination.
    func reconnect(_ reason: RedisError) {
        link.drop(reason)
    }

    /// Counters of the connection.
    package var tally: ConnectionTally { link.tally }

    /// Sends a command.
    ///
    /// - Parameter reply: called once, in the order in which commands were sent. An error reply from Redis is a
    ///   failure. If the command cannot be sent, `reply` is called before this method returns.
    public func send(_ command: RedisCommand, reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        send(command, label: command.name, reply: reply)
    }

    /// Sends a command with another name in errors.
    func send(
        _ command: RedisCommand, label: String, reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        if let refusal = refusal(of: 1, label: label) { return reply(.failure(refusal)) }
        enqueue(command, label: label, reply: reply)
    }

    /// Sends several commands as one unit: they are written in one piece, and each reply is delivered before the next
    /// is parsed.
    ///
    /// - Parameters:
    ///   - label: the name of each command in errors.
    ///   - write: appends the command at an index to the output.
    ///   - reply: called once for each index, in order. An error reply from Redis fails only that index. If the
    ///     commands cannot be sent, all fail before this method returns.
    func send(
        _ label: String, count: Int, write: (Int, inout ByteBuffer) -> Void,
        reply: @escaping (_ place: Int, Result<FlatReply, RedisError>) -> Void
    ) {
        guard count > 0 else { return }
        if let refusal = refusal(of: count, label: label) {
            return (0..<count).forEach { reply($0, .failure(refusal)) }
        }
        for place in 0..<count { write(place, &link.output) }
        enqueued(count, label: label, .each(reply))
    }

    /// Returns why this many commands cannot be sent now; `nil` if they can.
    private func refusal(of count: Int, label: String) -> RedisError? {
        eventLoop.assertInEventLoop()
        guard isConnected else { return .notSent(label, because: lastError) }
        guard waitingCount > maximumWaiting - count else { return nil }
        let sentence = "\(maximumWaiting) commands wait for their replies already"
        let error = RedisError(.tooManyWaiting, command: label, sentence)
        link.tally.failed(error)
        return error
    }

    private func enqueue(
        _ command: RedisCommand, label: String, reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        link.output.write(command)
        enqueued(1, label: label, .one(reply))
    }

    private func enqueued(_ count: Int, label: String, _ taker: Question.Taker) {
        waiting.append(Question(label: label, sentAt: link.now, clock: .now(), count: count, taker: taker))
        waitingCount += count
        link.tally.commands += count
        link.outputGrew()
    }
}

// MARK: Events of the link

extension CommandConnection: LinkUser {
    func linkOpened(to location: RedisLocation) {
        let handshake = Handshake.commands(location, name: name, scripts: scripts)
        reader = ReplyReader(FlatDecoder(), maximumReplyBytes: link.settings.maximumReplyBytes)
        hashes = [:]
        unansweredSteps = handshake.steps.count
        for (step, command) in handshake.steps {
            enqueue(command, label: command.name) { [unowned self] in shook(step, $0) }
        }
    }

    func linkReceived(_ bytes: ByteBuffer) {
        guard let reader else { return }
        heardAt = link.now
        let now = NIODeadline.now()
        let error = reader.feed(bytes) { reply in
            replied(reply, at: now)
            return self.reader === reader
        }
        if let error { link.drop(error) }
    }

    func linkWillFlush() {}

    func linkTicked() {
        if let first = waiting.first {
            // Replies arrive in order. As long as any arrive, a pending command is queued behind others and not lost.
            guard link.isOverdue(since: max(first.sentAt, heardAt)) else { return }
            link.drop(RedisError(.timedOut, command: first.label, "Redis did not answer in time"))
        } else if link.now % Link.ticksPerPing == 0 {
            // A pending command serves as a health check as well as a ping does. The reply to the ping is ignored.
            enqueue(RedisCommand("PING"), label: "PING") { _ in }
        }
    }

    func linkLost(_ error: RedisError) {
        let wasConnected = isConnected
        isConnected = false
        reader = nil
        lastError = error
        link.tally.lost(by: error)
        let lost = waiting
        waiting.removeAll()
        waitingCount = 0
        for question in lost { question.fail(error.whileWaiting(question.label)) }
        guard error.code != .closed else { return }
        if wasConnected { onDisconnect?(error) } else { onFailedAttempt?(error) }
    }

    private func replied(_ reply: FlatReply, at now: NIODeadline) {
        guard let question = waiting.first else {
            return link.drop(RedisError(.protocolError, "Redis sent a reply to no command"))
        }
        waitingCount -= 1
        if question.answered == question.count - 1 {
            waiting.removeFirst()
        } else {
            waiting[waiting.startIndex].answered += 1
        }
        link.tally.answered(after: (now - question.clock).nanoseconds)
        if reply.isOversized { return tooLarge(question) }
        guard let error = reply.error else { return question.take(reply) }
        failed(question, error)
    }

    private func tooLarge(_ question: Question) {
        let sentence = "Redis answered more than \(link.settings.maximumReplyBytes) bytes"
        let failure = RedisError(.replyTooLarge, command: question.label, sentence)
        link.tally.failed(failure)
        question.take(failure)
    }

    /// Handles an error reply.
    private func failed(_ question: Question, _ error: RedisServerError) {
        let failure = RedisError(error, command: question.label)
        link.tally.failed(failure)
        if failure.isDenied { onDenied?(failure) }
        question.take(failure)
        if error.kind == "READONLY" { link.drop(failure) }
    }

    private func shook(_ step: Handshake.Step, _ result: Result<RedisValue, RedisError>) {
        unansweredSteps -= 1
        switch result {
        case .success(let value):
            if case .load(let script) = step { hashes[script.name] = value.string }
        case .failure(let error):
            // Any other failure is the loss of the connection itself.
            guard let refusal = error.underlying as? RedisServerError else { return }
            if let verdict = Handshake.verdict(on: step, refusal) { return link.drop(verdict) }
        }
        if unansweredSteps == 0 { connected() }
    }

    private func connected() {
        isConnected = true
        lastError = nil
        link.tally.connects += 1
        onConnect?()
    }
}
