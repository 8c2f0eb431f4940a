// One sentinel, asked and listened to. What it publishes comes sooner than what it is asked for, and says no number; so
// what is heard is a reason to ask.

import Logging
import NIOCore
import RollcallModel

/// The connections to a sentinel. Bound to its event loop.
final class SentinelWatch {
    /// What is learnt of it.
    enum News {
        /// What it calls itself.
        case id(String)
        /// Other sentinels that it knows of.
        case others([SentinelPeer])
        case word(SentinelWord)
        /// It is of no use, for now.
        case useless(RedisError)
    }

    private let name: String
    private let tell: (News) -> Void
    private let asks: CommandConnection
    private let hears: SubscriberConnection

    /// - Parameters:
    ///   - name: by which it knows the primary.
    ///   - tell: called with what is learnt, from ``start()`` on.
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
        // Asking does as well, a little later; and who may not hear today would only try again for ever.
        hears.onDenied = { [weak self] _ in _ = self?.hears.close() }
        // About none of our topics: what stands for one is told to nobody else.
        for channel in Self.channels { hears.subscribe(channel, as: .worker(Incarnation(name: channel))) }
        asks.start()
        hears.start()
    }

    func close() -> EventLoopFuture<Void> {
        asks.close().and(hears.close()).map { _ in }
    }

    /// Why it cannot be asked; `nil` if it can.
    var lastError: RedisError? { asks.lastError }

    /// The sentinel that leads a failover names the new primary from the second on, and says the first when all replicas
    /// follow that; to the others the first is all that there is.
    private static let channels = ["+switch-master", "+failover-state-reconf-slaves"]
}

extension SentinelWatch {
    /// Asks where the primary is, if it can be asked.
    func ask() {
        guard asks.isConnected else { return }
        var facts: [String: String] = [:]
        // The number first: between the two questions there may be a failover, and an old number for a new primary does no
        // harm. Who may not be asked for it is one voice among others.
        asks.send(RedisCommand("SENTINEL", "MASTER", .string(name))) {
            if case .success(let value) = $0 { facts = SentinelReply.facts(value) }
        }
        asks.send(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name))) { [weak self] in
            self?.answered($0, facts)
        }
    }

    /// Asks who it is and which others there are. Who does not say is no worse for it.
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
            // What else there is comes as the end of the connection.
            guard case .server = error.code else { return }
            let sentence = "a sentinel does not say where the primary is: \(error)"
            tell(.useless(RedisError(.connectFailed, sentence, underlying: error)))
        }
    }

    private func heard(_ message: String) {
        if message.parts(at: " ").contains(where: { $0.isSame(as: name) }) { ask() }
    }
}
