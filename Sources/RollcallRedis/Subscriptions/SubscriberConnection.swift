// A connection for messages. In RESP2, a connection with subscriptions cannot send other commands, so messages have
// their own connection.

public import Logging
public import NIOCore
public import RollcallModel

/// A connection to Redis for messages, bound to an event loop. It reconnects until it is closed, and then subscribes
/// again to all wanted channels.
///
/// Create and use it on its event loop only; all closures are called there. The owner keeps a reference and finally
/// calls ``close()``.
public final class SubscriberConnection {
    public let eventLoop: any EventLoop
    /// Called after each successful connect; channels are confirmed afterwards.
    public var onConnect: (() -> Void)?
    /// Called when a connection that ``onConnect`` announced is lost, and all subscriptions with it. Not called when
    /// the owner closes the connection.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called when Redis denies a subscription because of a missing right.
    public var onDenied: ((RedisError) -> Void)?
    /// Called with the topics of wanted channels when their subscriptions are confirmed, also after each reconnect.
    /// Confirmations that arrive together are reported together. A read of a topic's state that starts after this
    /// misses no change.
    public var onSubscribed: (([Topic]) -> Void)?
    /// Called with the topic of a wanted channel when a cluster node ends or refuses its subscription, because the slot
    /// has moved or is moving. The subscription is retried shortly, unless the channel is moved to another connection.
    var onAstray: ((Topic) -> Void)?
    /// Called for each message on a wanted channel. The payload's memory is reused for the next message, unless the
    /// callee keeps a reference.
    public var onMessage: ((Topic, _ payload: ByteBuffer) -> Void)?
    /// Whether there is a working connection.
    public private(set) var isConnected = false
    /// Why there is no connection at this moment; `nil` while connected, and before the first attempt has failed.
    public private(set) var lastError: RedisError?

    private let link: Link
    private let name: String
    /// Whether channels are sharded. Each then needs a command for itself, since all channels of a command must have
    /// the same slot.
    private let isSharded: Bool
    /// The channels of unanswered commands, in order. Kept only for sharded channels, where an error reply refuses a
    /// single channel.
    private var asked = CircularBuffer<(channel: BytesKey, isSubscription: Bool)>()
    /// Whether the node says that the cluster is down. Only one channel is then retried at a time, until one succeeds.
    private var isDown = false
    private var handshake = Handshake(steps: [])
    private var reader: ReplyReader<PushDecoder>?
    private var table = SubscriptionTable<Topic>()
    /// Confirmed topics that were not reported to the owner yet.
    private var confirmed: [Topic] = []
    private var unansweredSteps = 0
    /// Since when a reply is pending, in ticks; `nil` if none is.
    private var awaitingSince: Int?
    private var heardAnything = false

    /// - Parameters:
    ///   - route: provides the destination of each connection attempt.
    ///   - name: the connection's name in `CLIENT LIST`; without spaces.
    public convenience init(
        to route: any RedisRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        self.init(to: route, name: name, isSharded: false, on: eventLoop, logger: logger, settings: settings)
    }

    /// - Parameter isSharded: whether the server is a cluster node, with the channels of its slots.
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

    /// Connects, and from then on reconnects. Must be called once.
    public func start() {
        link.start()
    }

    /// Closes the connection for good.
    public func close() -> EventLoopFuture<Void> {
        link.close()
    }

    /// Subscribes to a channel. For a channel that is already wanted, this changes nothing: ``onSubscribed`` is not
    /// called again if ``isConfirmed(_:)`` is true.
    ///
    /// - Parameter topic: identifies the channel in confirmations and messages.
    /// - Returns: whether the channel is already confirmed.
    @discardableResult
    public func subscribe(_ channel: String, as topic: Topic) -> Bool {
        eventLoop.assertInEventLoop()
        if isConnected { link.outputGrew() }
        return table.subscribe(channel, as: topic)
    }

    /// Unsubscribes from a channel; its messages are no longer delivered. Unsubscribing and subscribing again in the
    /// same event-loop tick sends nothing.
    public func unsubscribe(_ channel: String) {
        eventLoop.assertInEventLoop()
        table.unsubscribe(channel)
        if isConnected { link.outputGrew() }
    }

    /// The topics of all wanted channels.
    var topics: [Topic] { table.subjects }

    /// Removes the channels that belong to other servers.
    ///
    /// - Returns: the removed channels, to subscribe there.
    func give(where isElsewhere: (String) -> Bool) -> [(channel: String, topic: Topic)] {
        defer { if isConnected { link.outputGrew() } }
        return table.give(where: isElsewhere).map { ($0.channel, $0.subject) }
    }

    /// Counters of the connection.
    package var tally: ConnectionTally { link.tally }

    /// The number of channels that are subscribed, or are to be.
    package var channelCount: Int { table.count }

    /// Whether a channel is wanted and Redis has confirmed its last command about it.
    public func isConfirmed(_ channel: String) -> Bool {
        table.isConfirmed(channel)
    }
}

// MARK: Events of the link

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
        // Messages serve as a health check as well as a pong does.
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

// MARK: Input from Redis

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
                // Redis replied once for all channels of the command, so the count of pending replies would be wrong
                // from now on.
                let failure = RedisError(error, command: "SUBSCRIBE")
                if failure.isDenied { onDenied?(failure) }
                link.drop(failure)
            }
        }
    }

    /// Handles an error reply of a cluster node about the next pending channel: the node does not have its slot, or has
    /// lost touch with the cluster.
    private func refused() {
        if let question = asked.popFirst() { astray(table.refused(question.channel)) }
    }

    /// Reports a lost channel. Confirmations received just before are reported first, because they are no longer valid
    /// afterwards.
    private func astray(_ topic: Topic?) {
        guard let topic else { return }
        tellConfirmed()
        onAstray?(topic)
    }

    /// - Returns: whether this replies to a command. If not, the node sent it on its own initiative.
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

    /// Reports confirmations before any message, because a channel's first message follows its confirmation.
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
