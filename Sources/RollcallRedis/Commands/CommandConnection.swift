// Commands and their replies, in pipelines: what is sent in one turn of the event loop leaves in one write, and
// replies find their commands by order alone.

public import Logging
public import NIOCore

/// A connection to a Redis for commands, bound to an event loop, that comes back by itself for ever.
///
/// It is made and used on its event loop only, and all closures are called there. Whoever made it keeps it and calls
/// ``close()`` at the end. A command is never queued over a loss: what the connection cannot send now fails at once,
/// and what was sent but not answered fails when the connection is lost.
public final class CommandConnection {
    public let eventLoop: any EventLoop
    /// Called whenever commands can be sent, from the first time on.
    public var onConnect: (() -> Void)?
    /// Called whenever a connection that was announced by ``onConnect`` is lost, after all commands that waited have
    /// failed; not when the owner closes it. Redis's word that it is a replica (`READONLY`) counts as a loss: by then
    /// its primary is another, and the next attempt may find it.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called whenever an attempt to connect has come to nothing, before the next begins.
    package var onFailedAttempt: ((RedisError) -> Void)?
    /// Called when Redis refuses a command for want of a right, before its sender hears of it.
    public var onDenied: ((RedisError) -> Void)?
    /// Whether commands can be sent: connected, authenticated, and Redis not busy loading its data.
    public private(set) var isConnected = false
    /// Why there is no connection at this moment; `nil` while there is one, and before the first attempt has failed.
    public private(set) var lastError: RedisError?

    private let link: Link
    private let name: String
    private let scripts: [Script]
    private let maximumWaiting: Int
    private var reader: ReplyReader<FlatDecoder>?
    private var waiting = CircularBuffer<Question>()
    /// How many commands wait for their replies.
    public private(set) var waitingCount = 0
    /// When Redis last said anything.
    private var heardAt = 0
    private var unansweredSteps = 0
    /// The names by which Redis knows the scripts that it has loaded, by ours.
    private(set) var hashes: [String: String] = [:]

    /// - Parameters:
    ///   - route: asked where to go at each attempt.
    ///   - name: what `CLIENT LIST` shows for the connection; without spaces.
    ///   - scripts: loaded at each connect, so that ``call(_:keys:arguments:reply:)`` need not send their source.
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

    /// Connects, and from then on reconnects. Called once.
    public func start() {
        link.start()
    }

    /// Ends the connection for good; commands that wait fail with ``RedisError/Code/closed``.
    public func close() -> EventLoopFuture<Void> {
        link.close()
    }

    /// Gives the present connection up, if there is one, for where the route leads next.
    func reconnect(_ reason: RedisError) {
        link.drop(reason)
    }

    /// What it has done so far.
    package var tally: ConnectionTally { link.tally }

    /// Sends a command.
    ///
    /// - Parameter reply: called once, in the order in which commands were sent. An error that Redis answers is a
    ///   failure. If the command cannot be sent, `reply` is called before this returns.
    public func send(_ command: RedisCommand, reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        send(command, label: command.name, reply: reply)
    }

    /// As the public one, with errors that call the command by another name.
    func send(
        _ command: RedisCommand, label: String, reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        if let refusal = refusal(of: 1, label: label) { return reply(.failure(refusal)) }
        enqueue(command, label: label, reply: reply)
    }

    /// Sends several commands as one question: they leave in one piece and wait as one, whose replies are handed over as
    /// they come, each before the next is read.
    ///
    /// - Parameters:
    ///   - label: what errors call each of them.
    ///   - write: appends the command of a place to what is sent.
    ///   - reply: called once for each place, in order. An error that Redis answers fails that place alone. If the
    ///     commands cannot be sent, all fail before this returns.
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

    /// Why so many commands cannot be sent now; `nil` if they can.
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

// MARK: What the link tells

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
            // Replies come in order: while any come, what waits is not forgotten but behind others, however many.
            guard link.isOverdue(since: max(first.sentAt, heardAt)) else { return }
            link.drop(RedisError(.timedOut, command: first.label, "Redis did not answer in time"))
        } else if link.now % Link.ticksPerPing == 0 {
            // Whatever waits is as good a sign of life as a ping, whose answer matters to nobody.
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

    /// Redis answered a command with an error.
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
