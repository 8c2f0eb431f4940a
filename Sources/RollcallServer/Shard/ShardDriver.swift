// One event loop of a worker: the shard with its connections to Redis.

internal import Logging
package import Metrics
internal import NIOCore
package import RollcallCore
package import RollcallProtocol
internal import RollcallRedis

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The sessions of one event loop, with separate connections to Redis. Create and use it on that loop only.
package final class ShardDriver {
    let eventLoop: any EventLoop
    let commands: RedisClient
    let subscriber: RedisSubscriber
    let redis: RedisStore
    package let shard: Shard
    /// Called when a connection for commands is lost.
    var onRedisLost: ((RedisError) -> Void)?
    var onRedisConnected: (() -> Void)?
    /// Called when the worker must write all its data again, under a new incarnation.
    var onAssertAnew: ((AssertionReason) -> Void)?
    /// Called when reads find devices of dead workers.
    var onDeadMet: (([HeldItem]) -> Void)?
    /// Called when a connection leads to another server than the worker's heartbeats, with which one.
    var onSplit: ((String) -> Void)?
    var split: SplitCheck?
    /// Called to ask the app's server about access or, without a need, no longer.
    var onAsk: ((AccessQuestion, AccessQueue.Need?) -> Void)?
    /// Called for messages to this worker.
    var onNotice: ((WorkerNotice) -> Void)?

    let authenticator: (any TokenVerifier)?
    let seats: UserSeats
    let logger: Logger
    let problems: ProblemLog
    /// The metrics of the edge on this loop, if the worker has one.
    package var edge: (any LoopReports)?
    /// Where the shard reports its metrics.
    package let factory: any MetricsFactory
    private var metrics: LoopMetrics?
    /// The rules by which tokens of the issuer were refused.
    var refusedTokens: [RefusedRule: RepeatedProblem] = [:]
    private(set) var refusals = Counts<AuthenticationError.Code>()
    private var isStopped = false
    private var timer: Scheduled<Void>?

    init(
        _ settings: NodeSettings, of topology: Topology, authenticator: (any TokenVerifier)?, seats: UserSeats,
        on eventLoop: any EventLoop, problems: ProblemLog, metrics factory: any MetricsFactory
    ) {
        self.eventLoop = eventLoop
        self.authenticator = authenticator
        self.seats = seats
        self.problems = problems
        logger = problems.logger
        self.factory = factory
        commands = RedisClient(
            of: topology, name: "rollcall-\(settings.worker)", on: eventLoop, logger: logger,
            scripts: Script.all)
        subscriber = RedisSubscriber(
            of: topology, name: "rollcall-\(settings.worker)-hears", on: eventLoop, logger: logger)
        redis = RedisStore(
            Store(on: commands, settings: settings.store), subscriber: subscriber, on: eventLoop, problems: problems)
        var decisions = settings.shard
        decisions.isSpread = commands.isSpread
        shard = Shard(
            settings: decisions, worker: settings.worker, store: redis, random: SystemRandomNumberGenerator(),
            clock: RedisClock(time: .hostTime, sent: Self.now))
        shard.host = self
        redis.shard = shard
        metrics = LoopMetrics(of: self, in: factory)
    }

    func start() {
        commands.onConnect = { [weak self] in self?.onRedisConnected?() }
        commands.onDisconnect = { [weak self] error in self?.onRedisLost?(error) }
        commands.onDenied = { [problems] in problems.denied($0) }
        commands.onUnreachable = { [problems] in problems.unreachable($0, $1) }
        subscriber.onUnreachable = { [problems] in problems.unreachable($0, $1) }
        subscriber.onDenied = { [problems] in problems.denied($0) }
        subscriber.onDisconnect = { [problems] in problems.warning("a connection for messages lost", $0) }
        subscriber.onLost = { [weak self] topics in
            for topic in topics { self?.shard.subscriptionLost(topic) }
            self?.split?.connectionLost()
        }
        subscriber.onSubscribed = { [weak self] topics in self?.subscribed(topics) }
        subscriber.onMessage = { [weak self] topic, payload in
            payload.withUnsafeReadableBytes { self?.receive($0, on: topic) }
        }
        commands.start()
        subscriber.start()
        metrics?.start()
    }

    func stop() -> EventLoopFuture<Void> {
        isStopped = true
        redis.shard = nil
        metrics?.stop()
        metrics = nil
        timer?.cancel()
        timer = nil
        return commands.close().and(subscriber.close()).map { _ in }
    }

    private static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    private func subscribed(_ topics: [Topic]) {
        shard.after { shard, now in for topic in topics { shard.subscribed(topic, at: now) } }
    }
}

extension ShardDriver: Host {
    package var now: Instant { Self.now }

    package func endTickSoon() {
        eventLoop.assumeIsolated().execute { [self] in shard.endTick() }
    }

    package func wake(at instant: Instant) {
        guard !isStopped else { return }
        timer?.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, instant.nanoseconds)))
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            shard.after { $0.timePassed(at: $1) }
        }
    }

    package func assertAnew(_ reason: AssertionReason) { onAssertAnew?(reason) }

    package func sweep(_ items: [HeldItem]) { onDeadMet?(items) }

    package func mended(_ records: Int) {
        logger.warning("an audit repaired records", metadata: ["count": "\(records)"])
    }

    package func received(_ notice: WorkerNotice) { onNotice?(notice) }

    package func ask(_ question: AccessQuestion, _ need: AccessQueue.Need) { onAsk?(question, need) }

    package func withdraw(_ question: AccessQuestion) { onAsk?(question, nil) }

    package func couldNotRead(_ change: Any.Type) {
        logger.debug("a published change could not be read", metadata: ["type": "\(change)"])
    }
}

// MARK: Heartbeats

// Looks for the traces of the worker's heartbeats on this event loop's connections.

extension ShardDriver {
    func told(_ news: LeaseNews) {
        if case .began(let redis, _, _) = news, let incarnation = redis.incarnation { hear(incarnation) }
        shard.after { $0.told(news, at: $1) }
        guard case .renewed(let redis, let snapshot) = news, !commands.isSpread, let incarnation = redis.incarnation,
            split?.incarnation == incarnation, let end = snapshot.leases[incarnation]
        else { return }
        self.redis.store.look(for: incarnation, until: end) { [weak self] isFound in
            guard self?.split?.incarnation == incarnation, self?.split?.leaseRead(isFound: isFound) == true else {
                return
            }
            self?.onSplit?("a connection for commands does not see the worker's lease")
        }
        guard subscriber.isConfirmed(self.redis.store.names.channel(of: .worker(incarnation))),
            split?.beginPing() == true
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
        if let before = split?.incarnation { subscriber.unsubscribe(redis.store.names.channel(of: .worker(before))) }
        split = SplitCheck(of: incarnation)
        subscriber.subscribe(redis.store.names.channel(of: .worker(incarnation)), as: .worker(incarnation))
    }

    func receive(_ payload: UnsafeRawBufferPointer, on topic: Topic) {
        if case .worker = topic, payload.elementsEqual(Store.beat.utf8) {
            split?.messageArrived()
        } else {
            shard.after { $0.receive(payload, on: topic, at: $1) }
        }
    }
}

// MARK: Tokens

// Checks tokens for a shard.

extension ShardDriver {
    /// Returns whose device shows this token.
    package func proof(of token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        do throws(AuthenticationError) {
            guard let authenticator else { throw AuthenticationError(.wrongAlgorithm, "this node takes no tokens") }
            let clocks = TokenClocks(
                host: .now, redis: Date(timeIntervalSince1970: Double(shard.redis.time(at: now).milliseconds) / 1000))
            return try authenticator.identity(token: token, device: device, clocks: clocks).proof(by: clocks)
        } catch {
            note(error)
            // A token for another device is no renewal.
            throw ProofRefusal(error.end, endsWelcomed: error.code == .wrongDevice)
        }
    }

    /// Logs a refused token, each rule at most once a minute. What the issuer has signed is a mistake of somebody's; anybody
    /// can send what it has not.
    private func note(_ error: AuthenticationError) {
        refusals.count(error.code)
        let rule = RefusedRule(code: error.code, isSigned: error.isSigned)
        guard refusedTokens[rule, default: RepeatedProblem()].occurred("", at: .now) else { return }
        var metadata: Logger.Metadata = ["code": "\(error.code.rawValue)", "reason": "\(error.message)"]
        if let detail = error.detail { metadata["detail"] = "\(detail)" }
        let isMistake = error.isSigned && ![.expired, .wrongDevice, .noDevice].contains(error.code)
        logger.log(
            level: isMistake ? .warning : .info, isMistake ? "signed tokens are refused" : "tokens are refused",
            metadata: metadata)
    }

    /// What is logged once a minute.
    struct RefusedRule: Hashable {
        var code: AuthenticationError.Code
        var isSigned: Bool
    }
}

extension Identity {
    fileprivate func proof(by clocks: TokenClocks) -> Proof {
        Proof(
            user: user, device: device, lifetime: expires.map { .seconds(min(clocks.seconds(until: $0), 1e9)) },
            issued: issued.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }, grant: grant)
    }
}

// MARK: The edge

// The sessions of a loop's connections.

extension ShardDriver: EdgeShard {
    func serves(_ loop: EdgeLoop) {
        edge = EdgeTapes(of: loop, in: factory)
    }

    func connected(_ connection: EdgeConnection) {
        connection.session = shard.connected(connection)
    }

    func prove(
        _ token: ByteString, device: DeviceID?, of connection: EdgeConnection
    ) throws(ProofRefusal) -> Proof {
        let proof = try proof(of: token, device: device)
        guard !connection.isSeated else { return proof }
        guard connection.takeSeat() else { throw ProofRefusal(.busy(), endsWelcomed: true) }
        if let refusal = seats.take(UserSeats.Seat(user: proof.user, device: proof.device), at: .now()) {
            connection.leaveSeat()
            connection.loop.limitHit(refusal.limit, of: proof.user)
            throw ProofRefusal(refusal.end, endsWelcomed: true)
        }
        return proof
    }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) {
        guard let session = connection.session else { return }
        shard.after { shard, now in
            do {
                let request = try text.withUnsafeReadableBytes { try MessageCodec().request(from: $0) }
                shard.received(request, on: session, at: now)
            } catch let error as MessageError {
                shard.received(error, on: session, at: now)
            } catch {
                shard.receivedGarbage(on: session, at: now)
            }
        }
    }

    func fellBehind(_ connection: EdgeConnection) {
        if let session = connection.session { shard.fellBehind(session) }
    }

    func drained(_ connection: EdgeConnection) {
        guard let session = connection.session else { return }
        shard.after { $0.caughtUp(session, at: $1) }
    }

    func disconnected(_ connection: EdgeConnection) {
        guard let session = connection.session else { return }
        connection.session = nil
        // With the welcome, the user got a seat.
        if let name = session.name { seats.release(UserSeats.Seat(user: name.user, device: name.device)) }
        let silence = Duration.nanoseconds((.now() - connection.lastByte).nanoseconds)
        shard.after { $0.disconnected(session, silence: silence, at: $1) }
    }
}

extension EdgeConnection: Peer {
    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        try loop.shard.prove(token, device: device, of: self)
    }

    func send(_ delivery: Delivery, counting: Bool) -> Bool { send(loop.frame(of: delivery), counting: counting) }

    func spare(_ delivery: Delivery) { spare(loop.frame(of: delivery)) }

    func limitHit(_ limit: Limit) { loop.limitHit(limit, of: session?.name?.user) }

    func close(_ end: SessionEnd) { close(end.code, reason: end.sentence) }
}
