// Metrics of one event loop. The loop keeps plain counters, and once a second reports their growth. Nothing is reported
// where the events happen.

internal import Metrics
internal import NIOCore
internal import RollcallProtocol
internal import RollcallRedis

/// Reports the metrics of something else on the event loop of a shard.
package protocol LoopReports {
    mutating func report()
    /// Sets the gauges to zero.
    mutating func withdraw()
}

/// Reports the metrics of a shard, its connections to Redis and its edge. Create and use it on their event loop only.
final class LoopMetrics {
    private unowned let driver: ShardDriver
    private var shard: ShardTapes
    private var commands: ConnectionTapes
    private var subscriber: ConnectionTapes
    private var lag = Histogram()
    private var lagTape: HistogramTape
    private var beats = 0
    private var nextBeat: Scheduled<Void>?

    /// The interval for measuring event loop lag, and the number of measurements per report.
    private static let beat = TimeAmount.milliseconds(100)
    private static let beatsPerReport = 10

    init(of driver: ShardDriver, in factory: any MetricsFactory) {
        self.driver = driver
        shard = ShardTapes(factory)
        commands = ConnectionTapes(.commands, factory)
        subscriber = ConnectionTapes(.subscriber, factory)
        lagTape = HistogramTape(.eventLoopLag, in: factory)
    }

    func start() {
        beatLater()
    }

    /// Reports one last time, and sets the loop's gauges to zero.
    func stop() {
        nextBeat?.cancel()
        nextBeat = nil
        report()
        shard.withdraw()
        commands.withdraw()
        subscriber.withdraw()
        driver.edge?.withdraw()
    }

    private func beatLater() {
        let due = NIODeadline.now() + Self.beat
        nextBeat = driver.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [weak self] in self?.beaten(due) }
    }

    private func beaten(_ due: NIODeadline) {
        lag.record(nanoseconds: (NIODeadline.now() - due).nanoseconds)
        beatLater()
        beats += 1
        if beats.isMultiple(of: Self.beatsPerReport) { report() }
    }

    private func report() {
        lagTape.reach(lag)
        shard.report(driver)
        commands.report(driver.commands.tally, standing: driver.commands.connectionCount)
        commands.waiting(driver.commands.waitingCount)
        subscriber.report(driver.subscriber.tally, standing: driver.subscriber.connectionCount)
        subscriber.subscriptions(driver.subscriber.channelCount)
        driver.edge?.report()
    }
}
