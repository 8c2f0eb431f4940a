// The connections to one sentinel. Its events arrive sooner than polled changes, but contain no epoch, so an event only
// triggers a request.

import Logging
import NIOCore
import RollcallModel

/// The connections to a sentinel. Bound to its event loop.
final class SentinelWatch {
    /// What is learned from the sentinel.
    enum News {
        /// Its id.
        case id(String)
        /// Other sentinels that it knows.
        case others([SentinelPeer])
        case word(SentinelWord)
        /// It cannot be used for now.
        case useless(RedisError)
    }

    private let name: String
    private let tell: (News) -> Void
    private let asks: CommandConnection
    private let hears: SubscriberConnection

    /// - Parameters:
    ///   - name: the name of the primary in the sentinels' configuration.
    ///   - tell: called with what is learned, after ``start()``.
    init(
        _ way: SentinelWay, of name: String, for client: String, on eventLoop: any EventLoop, logger: Logger,
        tell: @escaping (News) -> Void
    ) {
        (self.name, self.tell) = (name, tell)
        let settings = ConnectionSettings(pingEvery: .milliseconds(500), deadAfter: .milliseconds(1500))
        asks = CommandConnection(to: way, name: "\(client)-asks", on: eventLoop, logger: logger, settings: settings)
        hears = SubscriberConnection(
            to: way, name: "\(client)-hears", on: eventLoop, logger: logger, settings: settings)
    }

    func start() {
        asks.onConnect = { [weak self] in
            self?.introduce()
            self?.ask()
        }
        asks.onFailedAttempt = { [weak self] in self?.tell(.useless($0)) }
        asks.onDisconnect = { [weak self] in self?.tell(.useless($0)) }
        hears.onSubscribed = { [weak self] _ in self?.ask() }
        hears.onMessage = { [weak self] _, message in self?.heard(String(buffer: message)) }
        // Polling works without the channels, only slightly later. Without the right to subscribe, the connection would
        // retry forever.
        hears.onDenied = { [weak self] _ in _ = self?.hears.close() }
        // These channels belong to no topic. The topic used in their place is not visible outside.
        for channel in Self.channels { hears.subscribe(channel, as: .worker(Incarnation(name: channel))) }
        asks.start()
        hears.start()
    }

    func close() -> EventLoopFuture<Void> {
        asks.close().and(hears.close()).map { _ in }
    }

    /// Why the sentinel cannot be asked; `nil` if it can.
    var lastError: RedisError? { asks.lastError }

    /// The events of a new primary. The sentinel that leads a failover names the new primary when it publishes the
    /// second event, and publishes the first only when all replicas have been reconfigured. The other sentinels publish
    /// only the first.
    private static let channels = ["+switch-master", "+failover-state-reconf-slaves"]
}

extension SentinelWatch {
    /// Asks for the primary, if the sentinel is connected.
    func ask() {
        guard asks.isConnected else { return }
        var facts: [String: String] = [:]
        // Asks for the epoch first. If a failover happens between the two commands, an old epoch with a new primary
        // does no harm. Without the right to read the epoch, the report counts with epoch 0.
        asks.send(RedisCommand("SENTINEL", "MASTER", .string(name))) {
            if case .success(let value) = $0 { facts = SentinelReply.facts(value) }
        }
        asks.send(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name))) { [weak self] in
            self?.answered($0, facts)
        }
    }

    /// Asks for the sentinel's id and the other sentinels. It can be used even if it does not answer these.
    func introduce() {
        guard asks.isConnected else { return }
        asks.send(RedisCommand("SENTINEL", "MYID")) { [weak self] in
            if case .success(let value) = $0, let id = value.string { self?.tell(.id(id)) }
        }
        asks.send(RedisCommand("SENTINEL", "SENTINELS", .string(name))) { [weak self] in
            if case .success(let others) = $0 { self?.tell(.others(SentinelReply.others(others))) }
        }
    }

    private func answered(_ answer: Result<RedisValue, RedisError>, _ facts: [String: String]) {
        switch answer {
        case .success(let value):
            guard let primary = SentinelReply.address(value) else {
                return tell(.useless(RedisError(.connectFailed, "a sentinel knows no primary of the name \(name)")))
            }
            tell(.word(SentinelReply.word(primary, facts)))
        case .failure(let error):
            // All other errors are reported as the end of the connection.
            guard case .server = error.code else { return }
            let sentence = "a sentinel does not say where the primary is: \(error)"
            tell(.useless(RedisError(.connectFailed, sentence, underlying: error)))
        }
    }

    private func heard(_ message: String) {
        if message.parts(at: " ").contains(where: { $0.isSame(as: name) }) { ask() }
    }
}
