// Metrics of a connection to Redis.

internal import Metrics
internal import RollcallRedis

struct ConnectionTapes {
    /// What a connection is used for.
    enum Purpose: String, CaseIterable {
        case commands, subscriber, heartbeats, requests
    }

    private var standing, waiting, subscriptions: GaugeTape
    private var connects, commands, messages, sentBytes, receivedBytes: CounterTape
    private var errors: CounterTapes<RedisErrorKind>
    private var roundTrips: HistogramTape

    init(_ purpose: Purpose, _ factory: any MetricsFactory) {
        let label = [("connection", purpose.rawValue)]
        standing = GaugeTape(.redisConnections, label, in: factory)
        connects = CounterTape(.redisConnects, label, in: factory)
        waiting = GaugeTape(.redisWaiting, in: factory)
        subscriptions = GaugeTape(.redisSubscriptions, in: factory)
        commands = CounterTape(.redisCommands, in: factory)
        messages = CounterTape(.redisMessages, in: factory)
        sentBytes = CounterTape(.redisBytesSent, in: factory)
        receivedBytes = CounterTape(.redisBytesReceived, in: factory)
        errors = CounterTapes(.redisErrors, known: RedisErrorKind.allCases, in: factory) { [("kind", $0.rawValue)] }
        roundTrips = HistogramTape(.redisRoundTrip, in: factory)
    }

    mutating func report(_ tally: ConnectionTally, standing count: Int) {
        standing.stand(at: count)
        connects.reach(tally.connects)
        commands.reach(tally.commands)
        messages.reach(tally.messages)
        sentBytes.reach(tally.sentBytes)
        receivedBytes.reach(tally.receivedBytes)
        errors.reach(tally.errors)
        roundTrips.reach(tally.roundTrips)
    }

    mutating func waiting(_ count: Int) { waiting.stand(at: count) }
    mutating func subscriptions(_ count: Int) { subscriptions.stand(at: count) }

    /// Sets the gauges of a closed connection to zero.
    mutating func withdraw() {
        standing.stand(at: 0)
        waiting.stand(at: 0)
        subscriptions.stand(at: 0)
    }
}
