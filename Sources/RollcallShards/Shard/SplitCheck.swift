// Whether all connections of a worker lead to the same Redis. A proxy or a service name may come to mean another server
// while only some of the connections are cut. After each heartbeat, an event loop looks for its traces: the lease, on
// its connection for commands, and the message, on its connection for messages. A cluster has its slot map instead.

internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

/// Counts in a row how often a connection that answers showed no trace of a heartbeat.
struct MissedBeats {
    /// Clearing all keys or a new lease causes one or two.
    private static let most = 3

    private var count = 0

    /// - Returns: whether the connection leads elsewhere.
    mutating func looked(_ isFound: Bool) -> Bool {
        count = isFound ? 0 : count + 1
        return count >= Self.most
    }
}

/// What an event loop has seen of the worker's heartbeats.
struct SplitCheck {
    var incarnation: Incarnation?
    var lease = MissedBeats()
    var messages = MissedBeats()
    /// Whether a heartbeat was heard since the last look.
    var hasHeard = false
    /// Whether the connection for messages has not answered the last look.
    var isLooking = false
}

extension ShardDriver {
    func told(_ news: LeaseNews) {
        if case .began(let incarnation, _, _, _, _) = news { hear(incarnation) }
        shell.told(news)
        guard case .renewed(let snapshot, _, _, _) = news, !commands.isSpread, let incarnation = split.incarnation,
            let end = snapshot.leases[incarnation]
        else { return }
        commands.look(for: incarnation, until: end, in: store) { [weak self] isFound in
            if self?.split.incarnation == incarnation, self?.split.lease.looked(isFound) == true {
                self?.onSplit?("a connection for commands does not see the worker's lease")
            }
        }
        listen(for: incarnation)
    }

    /// Subscribes to messages to this worker, which are addressed to its incarnation.
    private func hear(_ incarnation: Incarnation) {
        // On a cluster, there is nothing to compare, and one event loop is enough.
        guard !commands.isSpread || onNotice != nil else { return }
        if let before = split.incarnation { subscriber.unsubscribe(store.names.channel(of: .worker(before))) }
        split = SplitCheck(incarnation: incarnation)
        subscriber.subscribe(store.names.channel(of: .worker(incarnation)), as: .worker(incarnation))
    }

    func heard(_ payload: UnsafeRawBufferPointer, on topic: Topic) {
        if case .worker = topic, payload.elementsEqual(Store.beat.utf8) { return split.hasHeard = true }
        shell.heard(payload, on: topic)
    }

    /// Redis sends the message of a heartbeat before it answers a later ping, however slow the connection is.
    private func listen(for incarnation: Incarnation) {
        guard !split.isLooking, subscriber.isConfirmed(store.names.channel(of: .worker(incarnation))) else { return }
        split.isLooking = true
        subscriber.ping { [weak self] in
            guard let self, split.incarnation == incarnation else { return }
            let isElsewhere = split.messages.looked(split.hasHeard)
            (split.isLooking, split.hasHeard) = (false, false)
            if isElsewhere { onSplit?("a connection for messages does not hear the worker's heartbeats") }
        }
    }
}

extension RedisClient {
    /// Looks whether this connection sees a lease that ends at this time or later. An error says nothing.
    func look(
        for incarnation: Incarnation, until end: Timestamp, in store: Store, found: @escaping (Bool) -> Void
    ) {
        store.leaseEnd(of: incarnation) { if case .success(let seen) = $0 { found(seen.map { $0 >= end } ?? false) } }
    }
}
