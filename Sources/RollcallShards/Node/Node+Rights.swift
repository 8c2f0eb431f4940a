// Checks at startup that Redis permits everything the worker does, and accepts writes. A missing right would otherwise
// show only later, as one feature that fails.

internal import NIOCore
internal import RollcallRedis
internal import ServiceLifecycle

extension Node {
    /// - Throws: ``CannotServe`` if Redis does not answer or accept writes in time, or rights are missing;
    ///   `CancellationError` if the worker is stopped first.
    func checkRights() async throws {
        let end = ContinuousClock.now + settings.connectTimeout
        // A primary that was just promoted waits for its replicas.
        while let refusal = try await self.refusal() {
            guard ContinuousClock.now < end else { throw CannotServe.refused(refusal, at: settings.redis) }
            try await orCancelled(loops[0].scheduleTask(in: .milliseconds(200)) {}.futureResult)
        }
    }

    /// Returns why Redis refuses writes, if it does and no right is missing.
    private func refusal() async throws -> String? {
        let check = RightsCheck.shortfall(
            at: route, names: settings.store.names, ofCluster: route.cluster != nil, on: loops[0],
            within: settings.connectTimeout,
            logger: logger)
        let shortfall: Shortfall
        do {
            shortfall = try await orCancelled(check)
        } catch let error as RedisError where error.isDenied {
            throw CannotServe.denied([.command("role")], at: settings.redis)
        } catch let error as RedisError {
            throw CannotServe.noRedis(settings.redis, reason: error.code == .timedOut ? nil : error)
        }
        guard shortfall.commands.isEmpty else { throw CannotServe.unknown(shortfall.commands, at: settings.redis) }
        guard shortfall.rights.isEmpty else { throw CannotServe.denied(shortfall.rights, at: settings.redis) }
        return shortfall.refusal
    }

    private func orCancelled<Value: Sendable>(_ future: EventLoopFuture<Value>) async throws -> Value {
        let promise = future.eventLoop.makePromise(of: Value.self)
        future.cascade(to: promise)
        return try await withTaskCancellationOrGracefulShutdownHandler {
            try await promise.futureResult.get()
        } onCancelOrGracefulShutdown: {
            promise.fail(CancellationError())
        }
    }
}
