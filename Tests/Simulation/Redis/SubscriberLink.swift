// A shard's connection for messages: the wanted subscriptions, and what Redis has confirmed.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// A shard's subscriptions.
final class SubscriberLink: RedisLinkUser {
    var onDisconnect: () -> Void = {}
    var onSubscribed: (Topic) -> Void = { _ in }
    var onMessage: ([UInt8], Topic) -> Void = { _, _ in }

    /// A bug that can be planted: a subscription counts as confirmed when it is sent.
    var confirmsEarly = false

    private struct Entry {
        var isWanted = false
        var isSent = false
        var isAskedAgain = false
        var unanswered = 0

        var isConfirmed: Bool { isWanted && isSent && unanswered == 0 && !isAskedAgain }
    }

    private let link: RedisLink
    private var entries: [Topic: Entry] = [:]
    /// Topics whose entry may differ from what was sent.
    private var changed: [Topic] = []
    private var isConnected = false
    private var isFlushScheduled = false
    private var awaitingSince: Int?
    private var heardAnything = false

    init(_ world: World, name: String, over route: Route, of process: Process) {
        link = RedisLink(world, name: name, over: route, of: process)
        link.user = self
    }

    func start() { link.start() }
    func close() { link.close() }

    func subscribe(_ topic: Topic) {
        if entries[topic]?.isConfirmed == true { entries[topic]?.isAskedAgain = true }
        want(topic, true)
    }
    func unsubscribe(_ topic: Topic) { if entries[topic] != nil { want(topic, false) } }
    func isConfirmed(_ topic: Topic) -> Bool { entries[topic]?.isConfirmed ?? false }

    private func want(_ topic: Topic, _ isWanted: Bool) {
        entries[topic, default: Entry()].isWanted = isWanted
        if !isWanted { entries[topic]?.isAskedAgain = false }
        changed.append(topic)
        flushSoon()
    }

    /// Sends all changes of one turn of the loop together. A topic that is unsubscribed and subscribed again in one
    /// turn causes no command.
    private func flushSoon() {
        guard isConnected, !isFlushScheduled else { return }
        isFlushScheduled = true
        link.process.soon { [self] in
            isFlushScheduled = false
            if isConnected { flush() }
        }
    }

    private func flush() {
        // Sorted by name: if many are unsubscribed at once, the shard's order is that of a set.
        let topics = changed.sorted { $0.text.precedesByBytes($1.text) }
        changed = []
        for topic in topics {
            guard let entry = entries[topic], entry.isWanted != entry.isSent || entry.isAskedAgain else { continue }
            entries[topic]?.isAskedAgain = false
            entries[topic]?.isSent = entry.isWanted
            entries[topic]?.unanswered += 1
            send { session, answered in
                if entry.isWanted {
                    session.subscribe(topic) { answered { self.answered(topic) } }
                } else {
                    session.unsubscribe(topic) { answered { self.answered(topic) } }
                }
            }
            if confirmsEarly, entry.isWanted { link.process.soon { [self] in onSubscribed(topic) } }
        }
    }

    private func answered(_ topic: Topic) {
        entries[topic]?.unanswered -= 1
        guard let entry = entries[topic], entry.unanswered == 0 else { return }
        if entry.isConfirmed, !confirmsEarly { onSubscribed(topic) }
        if !entry.isWanted, !entry.isSent { entries[topic] = nil }
    }

    private func send(_ message: @escaping (RedisSession, _ answered: @escaping (@escaping () -> Void) -> Void) -> Void)
    {
        awaitingSince = awaitingSince ?? link.ticks
        link.send { [self] session, isCurrent in
            message(session) { event in
                self.link.arrives(if: isCurrent) {
                    self.heard()
                    event()
                }
            }
        }
    }

    private func heard() {
        awaitingSince = nil
        heardAnything = true
    }

    // MARK: Connection events

    func linkOpened() {
        link.send { [self] session, isCurrent in
            session.listens { payload, topic in
                self.link.arrives(if: isCurrent) {
                    self.heard()
                    if self.entries[topic]?.isWanted == true { self.onMessage(payload, topic) }
                }
            }
        }
        ping { [self] in
            isConnected = true
            flush()
        }
    }

    private func ping(_ answered: @escaping () -> Void) {
        send { session, arrives in
            session.received(
                RedisCommand(kind: .ping) { _ in
                    { arrives(answered) }
                } refuse: { _ in
                    arrives { self.link.drop("Redis is not ready") }
                })
        }
    }

    func linkTicked() {
        if let awaitingSince, link.isOverdue(since: awaitingSince) { return link.drop("no answer") }
        guard link.ticks % RedisLink.ticksPerPing == 0 else { return }
        if isConnected, !heardAnything { ping {} }
        heardAnything = false
    }

    func linkLost() {
        let wasConnected = isConnected
        isConnected = false
        awaitingSince = nil
        let wanted = entries.filter(\.value.isWanted).keys
        changed = Array(wanted)
        entries = Dictionary(uniqueKeysWithValues: wanted.map { ($0, Entry(isWanted: true)) })
        if wasConnected { onDisconnect() }
    }
}
