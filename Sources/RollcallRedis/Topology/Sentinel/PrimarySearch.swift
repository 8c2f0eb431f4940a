// Finding the primary, and hearing of the next one. Sentinels are asked one after the other; the one that answers is asked
// on, twice a second, and listened to, since what it publishes comes sooner than what it is asked for.

import Logging
import NIOCore
import RollcallModel

/// Looks for the primary of a name for as long as it lives. Bound to its event loop.
final class PrimarySearch {
    private typealias Address = RedisLocation.Address

    private let name: String
    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let found: (RedisLocation.Address) -> Void
    private let ring: SentinelRing
    private let asks: CommandConnection
    private let hears: SubscriberConnection

    private var primary: Address?
    private var visit: PrimaryVisit?
    private var waiting: [EventLoopPromise<RedisLocation.Address>] = []
    private var deadlines: [Scheduled<Void>] = []
    private var polls: RepeatedTask?
    /// Whether a sentinel has answered since somebody began to wait.
    private var wasHeard = false
    /// How many sentinels were of no use since somebody began to wait.
    private var misses = 0
    /// How often in a row what this sentinel named was no primary.
    private var doubts = 0
    private var lastError: RedisError?

    /// - Parameter found: called with the primary whenever it has been looked at.
    init(
        of deployment: RedisDeployment, credentials: @escaping Credentials.Source, on eventLoop: any EventLoop,
        logger: Logger, found: @escaping (RedisLocation.Address) -> Void
    ) {
        guard case .sentinel(let sentinels, let name) = deployment.topology else {
            preconditionFailure("sentinels are asked where there are some")
        }
        (self.name, self.deployment, self.credentials) = (name, deployment, credentials)
        (self.eventLoop, self.logger, self.found) = (eventLoop, logger, found)
        ring = SentinelRing(sentinels, isEncrypted: deployment.isEncrypted, credentials: credentials)
        let settings = ConnectionSettings(pingEvery: .milliseconds(500), deadAfter: .milliseconds(1500))
        asks = CommandConnection(
            to: ring.onward, name: "rollcall-asks", on: eventLoop, logger: logger, settings: settings)
        hears = SubscriberConnection(
            to: ring.current, name: "rollcall-hears", on: eventLoop, logger: logger, settings: settings)
    }

    func start() {
        asks.onConnect = { [weak self] in self?.connected() }
        asks.onFailedAttempt = { [weak self] _ in self?.missed() }
        hears.onSubscribed = { [weak self] _ in self?.ask() }
        hears.onMessage = { [weak self] _, message in self?.heard(String(buffer: message)) }
        // Asking does as well, a little later; and who may not hear today would only try again for ever.
        hears.onDenied = { [weak self] _ in _ = self?.hears.close() }
        // About none of our topics: what stands for one is told to nobody else.
        for channel in Self.channels { hears.subscribe(channel, as: .worker(Incarnation(name: channel))) }
        asks.start()
        hears.start()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        polls = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.ask()
        }
    }

    /// Ends the search; whoever waits is told so.
    func close() -> EventLoopFuture<Void> {
        polls?.cancel()
        visit?.leave()
        settle(.failure(RedisError(.closed, "the search for the primary was ended")))
        return asks.close().and(hears.close()).map { _ in }
    }

    /// The sentinel that leads a failover names the new primary from the second on, and says the first when all replicas
    /// follow that; to the others the first is all that there is.
    private static let channels = ["+switch-master", "+failover-state-reconf-slaves"]
    private static let interval = TimeAmount.milliseconds(500)
    /// How long sentinels may be silent before one goes where the primary was.
    private static let silence = TimeAmount.milliseconds(500)
    /// How long one waits for the primary before being told that there is none.
    private static let patience = TimeAmount.milliseconds(1500)
    /// How often a sentinel may be wrong before another is asked: mostly it is about to learn better.
    private static let mostDoubts = 4
}

// MARK: Those who wait

extension PrimarySearch {
    /// Asks for the primary anew, for whoever has lost the one that there was.
    func find(_ promise: EventLoopPromise<RedisLocation.Address>) {
        waiting.append(promise)
        guard waiting.count == 1 else { return }
        (wasHeard, misses, lastError) = (false, 0, nil)
        deadlines = [after(Self.silence) { $0.goBack() }, after(Self.patience) { $0.giveUp() }]
        ask()
    }

    private func after(_ time: TimeAmount, _ body: @escaping (PrimarySearch) -> Void) -> Scheduled<Void> {
        let bound = NIOLoopBound((self, body), eventLoop: eventLoop)
        return eventLoop.scheduleTask(in: time) {
            let (search, body) = bound.value
            body(search)
        }
    }

    /// While all sentinels are away the primary may well stand, and it says itself whether it is one.
    private func goBack() {
        if !wasHeard, visit == nil, let primary { consider(primary) }
    }

    /// A sentinel was of no use. When all were, nobody need wait any longer.
    private func missed() {
        misses += 1
        guard misses >= ring.sentinels.count, !waiting.isEmpty else { return }
        misses = 0
        if primary == nil || wasHeard { giveUp() } else { goBack() }
    }

    private func giveUp() {
        settle(.failure(lastError ?? (wasHeard ? undecided : silentSentinels)))
    }

    private var undecided: RedisError {
        RedisError(.connectFailed, "a sentinel names a primary that has not said yet whether it is one")
    }

    private var silentSentinels: RedisError {
        let asked = ring.sentinels.map { "\($0)" }.joined(separator: ", ")
        guard let error = asks.lastError else { return RedisError(.connectFailed, "no sentinel answers, of \(asked)") }
        guard error.code != .authentication else {
            return RedisError(
                .authentication, command: "AUTH",
                "the sentinels \(asked) refuse redis.sentinel_user or what is in redis.sentinel_password_file",
                underlying: error.underlying)
        }
        return RedisError(
            .connectFailed, "no sentinel answers, of \(asked): \(error)", underlying: error.underlying)
    }

    private func settle(_ result: Result<RedisLocation.Address, any Error>) {
        for deadline in deadlines { deadline.cancel() }
        let settled = waiting
        (deadlines, waiting) = ([], [])
        for promise in settled { promise.completeWith(result) }
    }
}

// MARK: What sentinels say

extension PrimarySearch {
    private func connected() {
        doubts = 0
        asks.send(RedisCommand("SENTINEL", "SENTINELS", .string(name))) { [weak self] in
            // Who may not be asked for the others is no worse for it.
            if case .success(let others) = $0 { self?.ring.learn(SentinelReply.others(others)) }
        }
        ask()
    }

    private func ask() {
        guard asks.isConnected else { return }
        asks.send(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name))) { [weak self] in
            self?.answered($0)
        }
    }

    private func answered(_ answer: Result<RedisValue, RedisError>) {
        switch answer {
        case .success(let value):
            if let address = SentinelReply.address(value) {
                wasHeard = true
                consider(address)
            } else {
                goOn(RedisError(.connectFailed, "a sentinel knows no primary of the name \(name)"))
            }
        case .failure(let error):
            // What else there is comes as the end of the connection.
            guard case .server = error.code else { return }
            goOn(
                RedisError(.connectFailed, "a sentinel does not say where the primary is: \(error)", underlying: error))
        }
    }

    private func heard(_ message: String) {
        guard let address = SentinelReply.switched(message, of: name) else { return ask() }
        wasHeard = true
        consider(address)
    }

    /// This sentinel is of no use; the next may be.
    private func goOn(_ error: RedisError) {
        lastError = error
        asks.reconnect(error)
        missed()
    }
}

// MARK: What the primary says

extension PrimarySearch {
    /// A sentinel names this one.
    private func consider(_ address: RedisLocation.Address) {
        guard address != primary || !waiting.isEmpty, visit?.address != address else { return }
        visit?.leave()
        visit = PrimaryVisit(
            to: deployment.location(at: address), credentials: credentials, on: eventLoop, logger: logger
        ) { [weak self] in self?.looked(at: address, $0) }
    }

    private func looked(at address: RedisLocation.Address, _ error: RedisError?) {
        visit = nil
        guard let error else { return adopt(address) }
        lastError = error
        doubts += 1
        if doubts >= Self.mostDoubts {
            doubts = 0
            goOn(error)
        }
        settle(.failure(error))
    }

    private func adopt(_ address: RedisLocation.Address) {
        doubts = 0
        if primary != address {
            logger.info("primary found", metadata: ["name": "\(name)", "address": "\(address)"])
        }
        primary = address
        ring.proved()
        found(address)
        settle(.success(address))
    }
}
