// Metrics of a shard.

internal import Metrics
internal import RollcallCore
internal import RollcallProtocol

struct ShardTapes {
    private var connections, sessions, lingering, behind, unwritten: GaugeTape
    private var rooms, entries, watches, typists, untold, missing: GaugeTape
    private var signals, throttled, published, conflated, dropped: CounterTape
    private var read, mended, rounds, lingeringDropped: CounterTape
    private var sent: CounterTapes<MessageKind>
    private var refused: CounterTapes<AuthenticationError.Code>
    private var publishing, delivery: HistogramTape

    init(_ factory: any MetricsFactory) {
        connections = GaugeTape(.connections, in: factory)
        sessions = GaugeTape(.sessions, in: factory)
        lingering = GaugeTape(.sessionsLingering, in: factory)
        behind = GaugeTape(.sessionsBehind, in: factory)
        unwritten = GaugeTape(.sessionsUnwritten, in: factory)
        rooms = GaugeTape(.joinedConversations, in: factory)
        entries = GaugeTape(.entries, in: factory)
        watches = GaugeTape(.watchedUsers, in: factory)
        typists = GaugeTape(.typists, in: factory)
        untold = GaugeTape(.changesUntold, in: factory)
        missing = GaugeTape(.personsMissing, in: factory)
        signals = CounterTape(.typingSignals, in: factory)
        throttled = CounterTape(.typingThrottled, in: factory)
        published = CounterTape(.typingPublished, in: factory)
        conflated = CounterTape(.messagesConflated, in: factory)
        dropped = CounterTape(.messagesDropped, in: factory)
        read = CounterTape(.auditRead, in: factory)
        mended = CounterTape(.auditMended, in: factory)
        rounds = CounterTape(.auditRounds, in: factory)
        lingeringDropped = CounterTape(.sessionsDropped, in: factory)
        sent = CounterTapes(.messagesSent, known: MessageKind.allCases, in: factory) { [("type", $0.rawValue)] }
        refused = CounterTapes(.tokensRefused, known: AuthenticationError.Code.allCases, in: factory) {
            [("code", $0.rawValue)]
        }
        publishing = HistogramTape(.typingPublish, in: factory)
        delivery = HistogramTape(.typingDelivery, in: factory)
    }

    mutating func report(_ driver: ShardDriver) {
        gauge(driver.shard)
        count(driver.shard)
        sent.reach(driver.shard.tally.sent)
        refused.reach(driver.refusals)
        dropped.reach(driver.shard.tally.dropped)
        publishing.reach(driver.redis.publishing)
        delivery.reach(driver.shard.tally.typingDeliveries)
    }

    /// Sets the gauges of a stopped shard to zero.
    mutating func withdraw() {
        connections.stand(at: 0)
        sessions.stand(at: 0)
        lingering.stand(at: 0)
        behind.stand(at: 0)
        unwritten.stand(at: 0)
        rooms.stand(at: 0)
        entries.stand(at: 0)
        watches.stand(at: 0)
        typists.stand(at: 0)
        untold.stand(at: 0)
        missing.stand(at: 0)
    }

    private mutating func gauge(_ shard: borrowing Shard) {
        connections.stand(at: shard.connectionCount)
        sessions.stand(at: shard.openSessionCount)
        lingering.stand(at: shard.lingeringSessionCount)
        behind.stand(at: shard.backlogCount)
        unwritten.stand(at: shard.unwrittenCount)
        rooms.stand(at: shard.roomCount)
        entries.stand(at: shard.entryCount)
        watches.stand(at: shard.watchCount)
        typists.stand(at: shard.typistCount)
        untold.stand(at: shard.untoldCount)
        missing.stand(at: shard.missingPersonCount)
    }

    private mutating func count(_ shard: borrowing Shard) {
        signals.reach(shard.tally.typingSignals)
        throttled.reach(shard.tally.typingThrottled)
        published.reach(shard.tally.typingPublished)
        conflated.reach(shard.tally.conflated)
        read.reach(shard.tally.auditRead)
        mended.reach(shard.tally.auditMended)
        rounds.reach(shard.tally.auditRounds)
        lingeringDropped.reach(shard.tally.lingeringDropped)
    }
}
