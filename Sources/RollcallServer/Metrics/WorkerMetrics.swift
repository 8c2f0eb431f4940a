// Metrics of the worker as a whole, reported by the event loop that keeps its lease.

internal import Metrics
internal import NIOCore
internal import RollcallRedis

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Counters of a worker's leases. Every number only grows.
struct LeaseTally {
    var incarnations = 0
    var heartbeatsFailed = 0
    var sweptIncarnations = 0
    /// Devices taken offline by sweeps, because they had not reconnected elsewhere.
    var sweptDevices = 0
    /// Whether Redis refuses to append events.
    var eventsRefused = false
    /// When Redis last acknowledged a heartbeat.
    var acknowledged: NIODeadline?
}

struct WorkerTapes {
    private var connection: ConnectionTapes
    private var ready, draining, held, up, refuses, refusesEvents, evicts, lacks, moved: GaugeTape
    private let age, ahead, settling: any MeterHandler
    private var incarnations, failed, swept, devices: CounterTape

    init(_ factory: any MetricsFactory) {
        connection = ConnectionTapes(.heartbeats, factory)
        ready = GaugeTape(.ready, in: factory)
        draining = GaugeTape(.draining, in: factory)
        held = GaugeTape(.leaseHeld, in: factory)
        age = factory.makeMeter(label: Metric.leaseAge.rawValue, dimensions: [])
        ahead = factory.makeMeter(label: Metric.clockAhead.rawValue, dimensions: [])
        settling = factory.makeMeter(label: Metric.settling.rawValue, dimensions: [])
        up = GaugeTape(.redisUp, in: factory)
        refuses = GaugeTape(.redisRefusesWrites, in: factory)
        refusesEvents = GaugeTape(.eventsRefused, in: factory)
        evicts = GaugeTape(.redisMayEvict, in: factory)
        lacks = GaugeTape(.redisLacks, in: factory)
        moved = GaugeTape(.redisMoved, in: factory)
        incarnations = CounterTape(.incarnations, in: factory)
        failed = CounterTape(.heartbeatsFailed, in: factory)
        swept = CounterTape(.sweptIncarnations, in: factory)
        devices = CounterTape(.sweptDevices, in: factory)
        factory.makeMeter(label: Metric.buildInfo.rawValue, dimensions: [("version", RollcallVersion.current)])
            .set(Int64(1))
    }

    mutating func report(
        _ tally: LeaseTally, clockAhead: Duration?, mayEvict: Bool, settling time: Duration, holdsLease: Bool,
        refusesWrites: Bool, at now: NIODeadline
    ) {
        if let clockAhead { ahead.set(clockAhead / .seconds(1)) }
        settling.set(time / .seconds(1))
        held.stand(at: holdsLease ? 1 : 0)
        refuses.stand(at: refusesWrites ? 1 : 0)
        refusesEvents.stand(at: tally.eventsRefused ? 1 : 0)
        evicts.stand(at: mayEvict ? 1 : 0)
        if let acknowledged = tally.acknowledged { age.set(Double((now - acknowledged).nanoseconds) / 1e9) }
        incarnations.reach(tally.incarnations)
        failed.reach(tally.heartbeatsFailed)
        swept.reach(tally.sweptIncarnations)
        devices.reach(tally.sweptDevices)
    }

    mutating func report(_ standing: Standing) {
        ready.stand(at: standing.isReady ? 1 : 0)
        draining.stand(at: standing.isDraining ? 1 : 0)
        lacks.stand(at: standing.lacksRights ? 1 : 0)
        moved.stand(at: standing.hasMoved ? 1 : 0)
    }

    mutating func report(_ commands: RedisClient, isUp: Bool) {
        up.stand(at: isUp ? 1 : 0)
        connection.report(commands.tally, standing: commands.connectionCount)
        connection.waiting(commands.waitingCount)
    }

    /// Sets the gauges to zero when the worker stops.
    mutating func withdraw() {
        ready.stand(at: 0)
        draining.stand(at: 0)
        held.stand(at: 0)
        age.set(0.0)
        ahead.set(0.0)
        settling.set(0.0)
        up.stand(at: 0)
        refuses.stand(at: 0)
        refusesEvents.stand(at: 0)
        evicts.stand(at: 0)
        lacks.stand(at: 0)
        moved.stand(at: 0)
        connection.withdraw()
    }
}

// MARK: Processor time

/// CPU time used by this process.
package enum ProcessorTime {
    /// POSIX reports it in microseconds; `nil` if the system does not report it.
    package static var used: Duration? {
        let used = clock()
        return used > 0 ? .microseconds(used) : nil
    }
}
