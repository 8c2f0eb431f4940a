// A connection for messages. In RESP2, a connection with subscriptions cannot send other commands, so messages have
// their own connection. Redis replies once to each command, in order. A channel therefore has the state last requested
// once all its replies have arrived.

package import Logging
package import NIOCore
package import RollcallProtocol

/// A connection to one server for messages, bound to an event loop. It reconnects until it is closed, and then
/// subscribes again to all wanted channels.
///
/// Create and use it on its event loop only; all closures are called there. The owner keeps a reference and finally
/// calls ``close(_:)``.
package final class SubscriberConnection {
    private struct Entry {
        let topic: Topic
        var isWanted = true
        /// Whether the last command sent about it was a subscription.
        var isSent = false
        /// Whether it is to be confirmed anew.
        var isAskedAgain = false
        /// Whether it is in `changed`.
        var isQueued = true
        /// The number of pending replies.
        var unanswered: Int32 = 0

        var isConfirmed: Bool { isWanted && isSent && unanswered == 0 && !isAskedAgain }
        var isDone: Bool { !isWanted && !isSent && unanswered == 0 && !isQueued }
    }

    package let eventLoop: any EventLoop
    /// Called when a working connection is lost, and all subscriptions with it. Not called when the owner closes it.
    var onDisconnect: ((RedisError) -> Void)?
    /// Called when an attempt to connect failed.
    var onFailedAttempt: ((RedisError) -> Void)?
    /// Called when Redis denies a subscription because of a missing right. It is retried.
    var onDenied: ((RedisError) -> Void)?
    /// Called with the topics of wanted channels when their subscriptions are confirmed, also after each reconnect.
    /// Confirmations that arrive together are reported together. A read of a topic's state that starts after this
    /// misses no change.
    package var onSubscribed: (([Topic]) -> Void)?
    /// Called with the topic of a wanted channel when Redis ends or refuses its subscription: on a cluster, because the
    /// slot has moved or is moving. It is retried shortly, unless the channel is moved to another connection.
    var onAstray: ((Topic) -> Void)?
    /// Called for each message on a wanted channel. The payload's memory is reused for the next message, unless the
    /// callee keeps a reference.
    package var onMessage: ((Topic, _ payload: ByteBuffer) -> Void)?

    package let connection: RedisConnection
    /// Whether channels are sharded: then they are in the slots of a cluster.
    private let isSharded: Bool
    private var entries: [BytesKey: Entry] = [:]
    /// Channels whose entry may differ from what was sent.
    private var changed = CircularBuffer<BytesKey>()
    /// The commands whose replies are pending, in order; without a channel, a ping, and what follows its reply.
    private var asked = CircularBuffer<(channel: BytesKey?, isSubscription: Bool, answered: () -> Void)>()
    /// Wanted channels whose subscription Redis refused or ended; they are retried after a pause.
    private var astray: [BytesKey] = []
    /// How many ticks are left until they are.
    private var patience = 0
    /// Whether the node says that the cluster is down, or the user lacks the right. Only one channel is then retried at
    /// a time, until one succeeds.
    private var isDown = false
    /// Why Redis has refused the last subscriptions, on this connection or the ones before: what serves commands and no messages
    /// is no connection.
    private var refusal: RedisError?
    /// How many ticks lie between two attempts: more with each that the user has no right to.
    private var pause = 1
    private static let longestPause = 20
    /// Confirmed topics that were not reported to the owner yet.
    private var confirmed: [Topic] = []

    /// The most pending replies. Redis buffers replies, and disconnects a client whose buffer grows too large.
    static let window = 4096

    /// - Parameters:
    ///   - name: the connection's name in `CLIENT LIST`; without spaces.
    ///   - isSharded: whether the server is a cluster node, with the channels of its slots.
    package init(
        to endpoint: Endpoint, name: String, isSharded: Bool = false, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        (self.eventLoop, self.isSharded) = (eventLoop, isSharded)
        connection = RedisConnection(to: endpoint, on: eventLoop, logger: logger, settings: settings) { location in
            HandshakeStep.introduction(location, name: name) + endpoint.role(at: location)
        }
        connection.user = self
    }

    /// Connects, and from then on reconnects. Must be called once.
    package func start() { connection.start() }

    /// Closes the connection for good.
    package func close(_ reason: RedisError = .closed) -> EventLoopFuture<Void> { connection.close(reason) }

    var isConnected: Bool { connection.isReady && refusal == nil }
    /// Why there is no connection; of one whose subscriptions are refused, why they are.
    var lastError: RedisError? { isConnected ? nil : refusal ?? connection.lastError }
}

// MARK: Channels

extension SubscriberConnection {
    /// Subscribes to a channel. One that is already wanted is confirmed anew, and its messages come meanwhile.
    ///
    /// - Parameter topic: identifies the channel in confirmations and messages.
    /// - Returns: whether the channel is already confirmed.
    @discardableResult
    package func subscribe(_ channel: String, as topic: Topic) -> Bool {
        eventLoop.assertInEventLoop()
        connection.flushSoon()
        let key = BytesKey(channel)
        guard let index = entries.index(forKey: key) else {
            entries[key] = Entry(topic: topic)
            changed.append(key)
            return false
        }
        if entries.values[index].isConfirmed { entries.values[index].isAskedAgain = true }
        want(index, true)
        return entries.values[index].isConfirmed
    }

    /// Unsubscribes from a channel; its messages are no longer delivered. Unsubscribing and subscribing again in the
    /// same event-loop tick sends nothing.
    func unsubscribe(_ channel: String) {
        eventLoop.assertInEventLoop()
        connection.flushSoon()
        if let index = entries.index(forKey: BytesKey(channel)) { want(index, false) }
    }

    /// Whether a channel is wanted and Redis has confirmed its last command about it.
    func isConfirmed(_ channel: String) -> Bool { entries[BytesKey(channel)]?.isConfirmed ?? false }

    /// The number of channels that are wanted or still being unsubscribed.
    var channelCount: Int { entries.count }

    /// The topics of all wanted channels.
    var topics: [Topic] { entries.values.lazy.filter(\.isWanted).map(\.topic) }

    /// Removes the channels that belong to other servers. Confirmed ones are not unsubscribed: the node ends them
    /// itself, and its message could not be told apart from a reply.
    ///
    /// - Returns: the removed channels, to subscribe there.
    func give(where isElsewhere: (String) -> Bool) -> [(channel: String, topic: Topic)] {
        let leaving = entries.filter { $0.value.isWanted && isElsewhere($0.key.text) }
        for (channel, entry) in leaving {
            if entry.unanswered == 0 { entries[channel] = nil } else { unsubscribe(channel.text) }
        }
        return leaving.map { ($0.key.text, $0.value.topic) }
    }

    private func want(_ index: Dictionary<BytesKey, Entry>.Index, _ wanted: Bool) {
        entries.values[index].isWanted = wanted
        if !wanted { entries.values[index].isAskedAgain = false }
        if wanted != entries.values[index].isSent || entries.values[index].isAskedAgain, !entries.values[index].isQueued
        {
            entries.values[index].isQueued = true
            changed.append(entries.keys[index])
        }
        removeIfDone(index)
    }

    private func removeIfDone(_ index: Dictionary<BytesKey, Entry>.Index) {
        if entries.values[index].isDone { entries.remove(at: index) }
    }

    private func find(_ channel: ByteBuffer) -> Dictionary<BytesKey, Entry>.Index? {
        channel.withUnsafeReadableBytes { entries.index(forKey: BytesKey(borrowing: $0)) }
    }
}

// MARK: Events of the connection

extension SubscriberConnection: ConnectionUser {
    func connected() {}
    func ping() { ping {} }

    /// Sends a ping.
    ///
    /// - Parameter answered: called when its reply arrives; never, if the connection is lost before.
    func ping(_ answered: @escaping () -> Void) { ask("PING", nil, isSubscription: false, answered) }

    var pendingCommand: String? {
        asked.first.map { $0.channel == nil ? "PING" : $0.isSubscription ? "SUBSCRIBE" : "UNSUBSCRIBE" }
    }

    private func ask(
        _ verb: String, _ channel: BytesKey?, isSubscription: Bool, _ answered: @escaping () -> Void = {}
    ) {
        asked.append((channel, isSubscription, answered))
        connection.write(RedisCommand(verb, arguments: channel.map { [.string($0.text)] } ?? []))
    }

    package func willFlush() {
        while asked.count < Self.window, let key = changed.popFirst() {
            guard let index = entries.index(forKey: key) else { continue }
            entries.values[index].isQueued = false
            let isWanted = entries.values[index].isWanted
            guard isWanted != entries.values[index].isSent || entries.values[index].isAskedAgain else {
                removeIfDone(index)
                continue
            }
            entries.values[index].isAskedAgain = false
            entries.values[index].isSent = isWanted
            entries.values[index].unanswered += 1
            ask((isSharded ? "S" : "") + (isWanted ? "SUBSCRIBE" : "UNSUBSCRIBE"), key, isSubscription: isWanted)
        }
    }

    func ticked() {
        patience -= 1
        guard !astray.isEmpty, patience <= 0 else { return }
        patience = pause
        let most = isDown ? 1 : astray.count
        for channel in astray.prefix(most) {
            if let index = entries.index(forKey: channel), entries.values[index].isWanted { want(index, true) }
        }
        astray.removeFirst(most)
        connection.flushSoon()
    }

    func lost(_ error: RedisError, wasReady: Bool) {
        (isDown, pause, patience) = (false, 1, 0)
        (astray, confirmed) = ([], [])
        asked.removeAll()
        changed.removeAll()
        entries = entries.compactMapValues { $0.isWanted ? Entry(topic: $0.topic) : nil }
        changed.append(contentsOf: entries.keys)
        guard error.code != .closed else { return }
        if wasReady { onDisconnect?(error) } else { onFailedAttempt?(error) }
    }

    func received(_ reply: RESPReply) {
        if let line = reply.error { return failed(RedisError(reply: line, command: "SUBSCRIBE")) }
        guard let (kind, channel, payload) = reply.push else {
            // The reply to a ping is of another form.
            if let question = asked.popFirst(), question.channel == nil { return question.answered() }
            return connection.drop(RedisError(.protocolError, "Redis sent what no subscriber is sent"))
        }
        switch kind {
        case .message:
            connection.tally.messages += 1
            tellConfirmed()
            guard let index = find(channel), entries.values[index].isWanted else { return }
            onMessage?(entries.values[index].topic, payload)
        case .subscribed: answered(channel, isSubscription: true)
        case .unsubscribed: answered(channel, isSubscription: false)
        }
    }

    /// Reports confirmations before any message, because a channel's first message follows its confirmation.
    func readEnded() { tellConfirmed() }

    private func tellConfirmed() {
        guard !confirmed.isEmpty else { return }
        defer { confirmed.removeAll(keepingCapacity: true) }
        onSubscribed?(confirmed)
    }

    /// Handles an error reply about the next pending channel: the node does not have its slot, or has lost touch with
    /// the cluster, or the user lacks the right.
    private func failed(_ error: RedisError) {
        connection.tally.failed(error)
        // What is neither about a right, nor passing, is about whatever is at the other end: a proxy without messages.
        let isForeign = !error.isDenied && !error.hadNoEffect
        if error.isDenied || isForeign { refusal = error }
        guard !error.isAboutConnection, !isForeign else { return connection.drop(error) }
        guard let channel = asked.popFirst()?.channel else { return }
        isDown = error.isDenied || error.code == .server(kind: "CLUSTERDOWN")
        if error.isDenied {
            pause = min(2 * pause, Self.longestPause)
            onDenied?(error)
        }
        guard let index = entries.index(forKey: channel) else { return }
        entries.values[index].unanswered -= 1
        ended(index)
    }

    private func answered(_ channel: ByteBuffer, isSubscription: Bool) {
        let isReply =
            asked.first.map { question in
                question.isSubscription == isSubscription
                    && channel.withUnsafeReadableBytes { BytesKey(borrowing: $0) == question.channel }
            } ?? false
        guard isReply else {
            // A node ends a subscription on its own initiative when the slot moves away.
            if !isSubscription { return find(channel).map(ended) ?? () }
            return connection.drop(
                RedisError(.protocolError, "Redis confirmed a subscription that was not asked for"))
        }
        asked.removeFirst()
        connection.flushSoon()
        guard let index = find(channel) else { return }
        entries.values[index].unanswered -= 1
        if isSubscription { (isDown, refusal, pause, patience) = (false, nil, 1, 0) }
        if entries.values[index].isConfirmed { confirmed.append(entries.values[index].topic) }
        removeIfDone(index)
    }

    /// Handles a subscription that Redis ended or refused. Confirmations received just before are reported first,
    /// because they are no longer valid afterwards.
    private func ended(_ index: Dictionary<BytesKey, Entry>.Index) {
        guard entries.values[index].unanswered == 0 else { return }
        entries.values[index].isSent = false
        guard entries.values[index].isWanted else { return removeIfDone(index) }
        astray.append(entries.keys[index])
        let topic = entries.values[index].topic
        tellConfirmed()
        onAstray?(topic)
    }
}
