// Looks after Redis while a worker runs: whether rights were lost, whether a primary that joined lacks something, and whether the
// name of redis.url leads elsewhere. At the start also whether other workers have other rules of access.

internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallProtocol
internal import RollcallRedis

/// What makes a worker look, besides each minute.
enum RedisAlarm: Hashable, Sendable {
    case minute
    /// Redis has denied something.
    case denied
    /// There may be other primaries.
    case servers
    /// Another worker has found that the name leads elsewhere.
    case moved
}

extension Node {
    private static let interval = Duration.seconds(60)
    /// How long each question may take: a stop waits for the one that is asked.
    private static let patience = Duration.seconds(2)

    /// Looks until the task is cancelled.
    func watchRedis(_ alarms: AsyncStream<RedisAlarm>) async {
        let minutes = Task { [alarm] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                alarm.yield(.minute)
            }
        }
        defer { minutes.cancel() }
        await compareAccess()
        var known = Set(topology.map?.primaries ?? [])
        var rights: ContinuousClock.Instant?
        var name = NameWatch()
        for await alarm in alarms {
            let primaries = topology.map?.primaries ?? []
            var asked: [RedisLocation.Address] = []
            switch alarm {
            case .minute: if lacking != nil { asked = primaries }
            case .denied: if rights.map({ .now - $0 >= Self.interval }) ?? true { asked = primaries }
            case .servers: asked = primaries.filter { !known.contains($0) }
            case .moved: break
            }
            known = Set(primaries)
            if !asked.isEmpty {
                rights = .now
                await lookForRights(at: asked, ofAll: asked.count == primaries.count)
            }
            if alarm == .minute || alarm == .moved { await look(&name, isTold: alarm == .moved) }
        }
    }

    /// What one may see and where one may join would depend on the worker that a device happens to reach.
    private func compareAccess() async {
        guard let report = try? await workers() else { return }
        let others = report.workers.filter {
            guard !$0.standing(at: report.time).isDead, let access = $0.access else { return false }
            return access != ByteString(settings.accessRules)
        }
        guard !others.isEmpty else { return }
        logger.warning(
            "other workers have other rules of access.*: give all workers the same",
            metadata: [
                "rules": "\(settings.accessRules)",
                "others": .array(others.prefix(3).map { "\($0.incarnation.name): \($0.access ?? "")" }),
            ])
    }

    /// - Parameter isWhole: Whether these are all servers; otherwise what others lack is not forgotten.
    private func lookForRights(at servers: [RedisLocation.Address], ofAll isWhole: Bool) async {
        var needed: String?
        for server in servers where needed == nil {
            guard !Task.isCancelled, let found = await lack(at: server, within: Self.patience) else { return }
            needed = found.needed.map { "\($0), at \(server)" }
        }
        if let needed {
            logger.error("Redis lacks what a worker needs; that part does not work", metadata: ["reason": "\(needed)"])
        } else if isWhole, lacking != nil {
            logger.notice("Redis lacks nothing any more that a worker needs")
        }
        if needed != nil || isWhole { lacking = needed }
    }

    // MARK: The name

    /// Looks whether the name of `redis.url` still has the address of the connections. If not, three times in a row, and another
    /// primary answers there, all connections move. Sentinels and cluster nodes say themselves where the primary is.
    private func look(_ watch: inout NameWatch, isTold: Bool) async {
        guard let address = topology.nameOfServer, case .host(let host, let port) = address,
            let used = try? await first({ $0.commands.serverAddress }),
            let found = try? await NameLookups.addresses(
                of: host, port: port, within: max(settings.connectTimeout, .seconds(10)), on: loops[0]
            ).get()
        else { return }
        watch.looked(found.contains { $0.ipAddress == used.ipAddress })
        if isTold, watch.misses > 0 { watch.misses = NameWatch.patience }
        guard watch.misses >= NameWatch.patience else { return hasMoved = false }
        let old = await runID()
        guard let visit = try? await RedisVisit(to: topology, on: loops[0], within: Self.patience, logger: logger)
        else {
            return
        }
        let new = await visit.runID()
        await visit.close()
        if let new, new == old { return watch.misses = 0 }
        hasMoved = true
        let facts: Logger.Metadata = [
            "name": "\(host)", "used": "\(used)", "found": "\(found.first.map { "\($0)" } ?? "")",
        ]
        guard old != nil, new != nil else {
            logger.warning(
                "the name of Redis has another address; restart the workers if it leads to another server",
                metadata: facts)
            return
        }
        logger.warning("the name of Redis leads to another server; all connections move there", metadata: facts)
        watch.misses = 0
        await tellOthersOfMove()
        try? await onLease { $0.move() }
    }

    /// What tells the server of the first event loop's connection from others. The connection for requests may be a newer one.
    private func runID() async -> ByteString? {
        let shard = shards.withLockedValue { $0[0] }
        let answer: EventLoopFuture<ByteString?> = shard.eventLoop.flatSubmit {
            let promise = shard.eventLoop.makePromise(of: ByteString?.self)
            shard.value.redis.store.runID { promise.succeed((try? $0.get()) ?? nil) }
            return promise.futureResult
        }
        return (try? await answer.get()) ?? nil
    }

    private func tellOthersOfMove() async {
        guard let report = try? await workers() else { return }
        for worker in report.workers where !worker.standing(at: report.time).isDead && worker.incarnation != incarnation
        {
            _ = try? await ask { store, reply in store.announce(.moved, to: worker.incarnation, reply: reply) }
        }
    }
}

/// How often in a row the name did not have the address in use. One answer may be a part of all addresses, or an error.
private struct NameWatch {
    static let patience = 3
    var misses = 0

    mutating func looked(_ isFound: Bool) { misses = isFound ? 0 : misses + 1 }
}
