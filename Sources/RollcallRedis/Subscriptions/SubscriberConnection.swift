// Messages, and the channels they come on. RESP2 keeps a connection that subscribes from doing anything else, so it
// is one of its own.

public import Logging
public import NIOCore
public import RollcallModel

/// A connection to a Redis for messages, bound to an event loop, that comes back by itself for ever and then
/// subscribes again to all that is wanted.
///
/// It is made and used on its event loop only, and all closures are called there. Whoever made it keeps it and calls
/// ``close()`` at the end.
public final class SubscriberConnection {
    public let eventLoop: any EventLoop
    /// Called whenever there is a connection, from the first time on; channels are confirmed after it.
    public var onConnect: (() -> Void)?
    /// Called whenever a connection that was announced by ``onConnect`` is lost, and all subscriptions with it; not
    /// when the owner closes it.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called when Redis refuses a subscription for want of a right.
    public var onDenied: ((RedisError) -> Void)?
    /// Called with what wanted channels are about whenever their subscriptions are confirmed, again after each reconnect;
    /// together with those whose confirmations came together. A read of a topic's state that is begun after this misses
    /// no change.
    public var onSubscribed: (([Topic]) -> Void)?
    /// Called with what a wanted channel is about when a cluster's node has ended its subscription, or refuses one, since
    /// the slot is another's now, or soon; it is asked for again in a moment, unless it is given away.
    var onAstray: ((Topic) -> Void)?
    /// Called for each message on a wanted channel. The payload's memory is used again for the next message, unless
    /// somebody keeps it.
    public var onMessage: ((Topic, _ payload: ByteBuffer) -> Void)?
    /// Whether there is a connection that answers.
    public private(set) var isConnected = false
    /// Why there is no connection at this moment; `nil` while there is one, and before the first attempt has failed.
    public private(set) var lastError: RedisError?

    private let link: Link
    private let name: String
    /// Whether channels lie in slots. Then each is asked for by itself, as those of a command must lie in one.
    private let isSharded: Bool
    /// The channels asked about that were not answered yet, in their order; kept where answers may be refusals of one.
    private var asked = CircularBuffer<(channel: BytesKey, isSubscription: Bool)>()
    /// Whether the node says that the cluster is down: then one channel asks for all, until it is granted.
    private var isDown = false
    private var handshake = Handshake(steps: [])
    private var reader: ReplyReader<PushDecoder>?
    private var table = SubscriptionTable<Topic>()
    /// What is confirmed of which the owner has not been told yet.
    private var confirmed: [Topic] = []
    private var unansweredSteps = 0
    /// Since when Redis owes us a word; `nil` if it does not.
    private var awaitingSince: Int?
    private var heardAnything = false

    /// - Parameters:
    ///   - route: asked where to go at each attempt.
    ///   - name: what `CLIENT LIST` shows for the connection; without spaces.
    public convenience init(
        to route: any RedisRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        self.init(to: route, name: name, isSharded: false, on: eventLoop, logger: logger, settings: settings)
    }

    /// - Parameter isSharded: whether the other side is a node of a cluster, with the channels of its slots.
    init(
        to route: any RedisRoute, name: String, isSharded: Bool, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings
    ) {
        self.eventLoop = eventLoop
        self.name = name
        self.isSharded = isSharded
        link = Link(along: route, on: eventLoop, logger: logger, settings: settings)
        link.user = self
    }

    /// Connects, and from then on reconnects. Called once.
    public func start() {
        link.start()
    }

    /// Ends the connection for good.
    public func close() -> EventLoopFuture<Void> {
        link.close()
    }

    /// Wants a channel from now on. Wanting it already changes nothing: no further ``onSubscribed`` comes for a channel
    /// that ``isConfirmed(_:)``.
    ///
    /// - Parameter topic: what the channel is about, and how its messages and confirmations are told.
    /// - Returns: whether it is confirmed already.
    @discardableResult
    public func subscribe(_ channel: String, as topic: Topic) -> Bool {
        eventLoop.assertInEventLoop()
        if isConnected { link.outputGrew() }
        return table.subscribe(channel, as: topic)
    }

    /// Wants a channel no more: from now on none of its messages is handed over. Leaving it and wanting it again in
    /// the same turn of the event loop is as if nothing had been said.
    public func unsubscribe(_ channel: String) {
        eventLoop.assertInEventLoop()
        table.unsubscribe(channel)
        if isConnected { link.outputGrew() }
    }

    /// What all wanted channels are about.
    var topics: [Topic] { table.subjects }

    /// Wants no more what lies elsewhere.
    ///
    /// - Returns: the channels, to be wanted there.
    func give(where isElsewhere: (String) -> Bool) -> [(channel: String, topic: Topic)] {
        defer { if isConnected { link.outputGrew() } }
        return table.give(where: isElsewhere).map { ($0.channel, $0.subject) }
    }

    /// What it has done so far.
    package var tally: ConnectionTally { link.tally }

    /// How many channels Redis is asked for, or is to be.
    package var channelCount: Int { table.count }

    /// Whether a channel is wanted and Redis has confirmed the last that it was told about it.
    public func isConfirmed(_ channel: String) -> Bool {
        table.isConfirmed(channel)
    }
}

// MARK: What the link tells

extension SubscriberConnection: LinkUser {
    package func linkOpened(to location: RedisLocation) {
        handshake = .subscriber(location, name: name)
        reader = ReplyReader(PushDecoder(), maximumReplyBytes: link.settings.maximumReplyBytes)
        unansweredSteps = handshake.steps.count
        for (_, command) in handshake.steps { send(command) }
    }

    package func linkReceived(_ bytes: ByteBuffer) {
        guard let reader else { return }
        awaitingSince = nil
        heardAnything = true
        let error = reader.feed(bytes) { push in
            pushed(push)
            return self.reader === reader
        }
        tellConfirmed()
        if let error { link.drop(error) }
    }

    package func linkWillFlush() {
        guard isConnected else { return }
        while let batch = table.nextBatch() {
            if isSharded {
                for channel in batch.unsubscribe { ask(about: channel, "SUNSUBSCRIBE", isSubscription: false) }
                for channel in batch.subscribe { ask(about: channel, "SSUBSCRIBE", isSubscription: true) }
            } else {
                send("UNSUBSCRIBE", batch.unsubscribe)
                send("SUBSCRIBE", batch.subscribe)
            }
        }
    }

    func linkTicked() {
        if let awaitingSince, link.isOverdue(since: awaitingSince) {
            return link.drop(RedisError(.timedOut, command: "PING", "Redis did not answer in time"))
        }
        if table.hasAstray {
            table.askAgain(atMost: isDown ? 1 : .max)
            link.outputGrew()
        }
        guard link.now % Link.ticksPerPing == 0 else { return }
        // Messages are as good a sign of life as a pong.
        if isConnected, !heardAnything { send(RedisCommand("PING")) }
        heardAnything = false
    }

    func linkLost(_ error: RedisError) {
        let wasConnected = isConnected
        isConnected = false
        reader = nil
        awaitingSince = nil
        isDown = false
        lastError = error
        link.tally.lost(by: error)
        table.connectionLost()
        asked.removeAll()
        confirmed = []
        if wasConnected, error.code != .closed { onDisconnect?(error) }
    }

    private func send(_ verb: String, _ channels: [String]) {
        if !channels.isEmpty { send(RedisCommand(verb, arguments: channels.map { .string($0) })) }
    }

    private func ask(about channel: String, _ verb: String, isSubscription: Bool) {
        asked.append((BytesKey(channel), isSubscription))
        send(RedisCommand(verb, .string(channel)))
    }

    private func send(_ command: RedisCommand) {
        link.output.write(command)
        link.outputGrew()
        awaitingSince = awaitingSince ?? link.now
    }
}

// MARK: What Redis says

extension SubscriberConnection {
    private func pushed(_ push: Push) {
        switch push {
        case .message(let channel, let payload):
            link.tally.messages += 1
            tellConfirmed()
            if let topic = table.wanted(channel) { onMessage?(topic, payload) }
        case .subscribed(let channel): answered(channel, subscribed: true)
        case .unsubscribed(let channel): answered(channel, subscribed: false)
        case .pong: break
        case .status: if unansweredSteps > 0 { shook(nil) }
        case .failed(let error):
            link.tally.failed(RedisError(error, command: "SUBSCRIBE"))
            if unansweredSteps > 0 {
                shook(error)
            } else if isSharded, error.kind != "NOPERM" {
                isDown = error.kind == "CLUSTERDOWN"
                refused()
            } else if table.unanswered > 0 {
                // Not one answer per channel but one for all: the count would be wrong from here on.
                let failure = RedisError(error, command: "SUBSCRIBE")
                if failure.isDenied { onDenied?(failure) }
                link.drop(failure)
            }
        }
    }

    /// A node of a cluster does not answer about the channel whose turn it is, but that it has not its slot, or that it has
    /// lost touch with the others.
    private func refused() {
        if let question = asked.popFirst() { astray(table.refused(question.channel)) }
    }

    /// What was confirmed just before is told first: it is so no longer.
    private func astray(_ topic: Topic?) {
        guard let topic else { return }
        tellConfirmed()
        onAstray?(topic)
    }

    /// - Returns: whether this is an answer, and not news.
    private func isAnswer(_ channel: ByteBuffer, subscribed: Bool) -> Bool {
        guard let question = asked.first, question.isSubscription == subscribed,
            channel.withUnsafeReadableBytes({ BytesKey(borrowing: $0) == question.channel })
        else { return false }
        asked.removeFirst()
        return true
    }

    private func answered(_ channel: ByteBuffer, subscribed: Bool) {
        if isSharded, !isAnswer(channel, subscribed: subscribed), !subscribed {
            return astray(table.ended(channel))
        }
        switch table.answered(channel, subscribed: subscribed) {
        case .noted: break
        case .confirmed(let topic):
            isDown = false
            confirmed.append(topic)
        case .unexpected:
            link.drop(RedisError(.protocolError, "Redis confirmed a subscription that was not asked for"))
        }
    }

    /// Before any message, for what a channel says first comes after its confirmation.
    private func tellConfirmed() {
        guard !confirmed.isEmpty else { return }
        defer { confirmed.removeAll(keepingCapacity: true) }
        onSubscribed?(confirmed)
    }

    private func shook(_ refusal: RedisServerError?) {
        let step = handshake.steps[handshake.steps.count - unansweredSteps].step
        unansweredSteps -= 1
        if let refusal, let verdict = Handshake.verdict(on: step, refusal) { return link.drop(verdict) }
        guard unansweredSteps == 0 else { return }
        isConnected = true
        lastError = nil
        link.tally.connects += 1
        onConnect?()
        link.outputGrew()
    }
}
