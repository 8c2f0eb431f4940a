// Looks for the traces of the worker's heartbeats on this event loop's connections.

internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

extension ShardDriver {
    func told(_ news: LeaseNews) {
        if case .began(let incarnation, _, _, _, _) = news { hear(incarnation) }
        shard.after { $0.told(news, at: $1) }
        guard case .renewed(let incarnation, let snapshot, _, _, _) = news, !commands.isSpread,
            split?.incarnation == incarnation, let end = snapshot.leases[incarnation]
        else { return }
        redis.store.look(for: incarnation, until: end) { [weak self] isFound in
            guard self?.split?.incarnation == incarnation, self?.split?.leaseRead(isFound: isFound) == true else {
                return
            }
            self?.onSplit?("a connection for commands does not see the worker's lease")
        }
        guard subscriber.isConfirmed(redis.store.names.channel(of: .worker(incarnation))), split?.beginPing() == true
        else {
            return
        }
        subscriber.ping { [weak self] in
            guard self?.split?.incarnation == incarnation, self?.split?.pingAnswered() == true else { return }
            self?.onSplit?("a connection for messages does not hear the worker's heartbeats")
        }
    }

    /// Subscribes to messages to this worker, which are addressed to its incarnation.
    private func hear(_ incarnation: Incarnation) {
        // On a cluster, there is nothing to compare, and one event loop is enough.
        guard !commands.isSpread || onNotice != nil else { return }
        if let before = split?.incarnation { subscriber.unsubscribe(redis.store.names.channel(of: .worker(before))) }
        split = SplitCheck(of: incarnation)
        subscriber.subscribe(redis.store.names.channel(of: .worker(incarnation)), as: .worker(incarnation))
    }

    func heard(_ payload: UnsafeRawBufferPointer, on topic: Topic) {
        if case .worker = topic, payload.elementsEqual(Store.beat.utf8) {
            split?.heard()
        } else {
            shard.after { $0.heard(payload, on: topic, at: $1) }
        }
    }
}
