// Checks the rights of a Redis user, as that user. `ACL DRYRUN` is made for this, but requires Redis 7 and a right that
// no worker should have. Instead, commands are queued in a transaction that is never executed: Redis checks the rights
// when it queues a command.

public import Logging
public import NIOCore

/// Finds the rights and commands that a worker lacks.
public enum RightsCheck {
    /// - Parameters:
    ///   - names: the names of keys and channels, with their prefix.
    ///   - isOfCluster: whether the server is a node of a cluster.
    ///   - timeout: how long to wait for Redis.
    /// - Returns: what is missing. Fails with a ``RedisError`` if Redis does not answer in time or rejects the
    ///   credentials.
    public static func shortfall(
        at route: any RedisRoute, names: KeyNames, ofCluster isOfCluster: Bool = false, on eventLoop: any EventLoop,
        within timeout: Duration, logger: Logger
    ) -> EventLoopFuture<Shortfall> {
        let promise = eventLoop.makePromise(of: Shortfall.self)
        eventLoop.execute {
            let rights = WorkerRights(names: names, ofCluster: isOfCluster)
            let check = Check(at: route, rights, on: eventLoop, logger: logger, promise)
            check.start(within: timeout)
        }
        return promise.futureResult
    }
}

/// One check, with its own connection. It lives until its promise is completed.
private final class Check {
    private let commands: CommandConnection
    private let rights: WorkerRights
    private let promise: EventLoopPromise<Shortfall>

    init(
        at route: any RedisRoute, _ rights: WorkerRights, on eventLoop: any EventLoop, logger: Logger,
        _ promise: EventLoopPromise<Shortfall>
    ) {
        self.rights = rights
        self.promise = promise
        commands = CommandConnection(to: route, name: "rollcall-rights", on: eventLoop, logger: logger)
    }

    func start(within timeout: Duration) {
        let late = commands.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [self] in
            promise.fail(commands.lastError ?? RedisError(.timedOut, "Redis did not answer in time"))
        }
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            late.cancel()
            _ = commands.close()
        }
        commands.onConnect = { [weak self] in self?.ask() }
        commands.start()
    }

    /// Sends nothing before `MULTI` is confirmed: outside of a transaction, the commands would be executed.
    private func ask() {
        commands.send(RedisCommand("MULTI")) { [self] result in
            switch (result, Self.refusal(result)?.lack(of: "multi")) {
            case (.success, _): queue(rights.probes.filter { !["MULTI", "DISCARD"].contains($0.command.name) })
            case (_, .right?): askWithoutTransaction()
            case (_, .command(let name)?): promise.succeed(Shortfall(commands: [name]))
            case (.failure(let error), _): failed(error)
            }
        }
    }

    /// Without transactions, only one command can be checked: this `EVALSHA` does nothing, since no such script exists.
    /// A user who may not run scripts cannot be used for a worker.
    private func askWithoutTransaction() {
        commands.send(RedisCommand("EVALSHA", "0", "0")) { [self] result in
            let lack = Self.refusal(result)?.lack(of: "evalsha")
            promise.succeed(
                Shortfall(rights: [.command("multi"), .command("discard")] + (lack?.right.map { [$0] } ?? [])))
        }
    }

    private func queue(_ probes: [RightProbe]) {
        var shortfall = Shortfall()
        for probe in probes {
            commands.send(probe.command) { result in
                if let lack = Self.refusal(result).flatMap(probe.lack) { shortfall.add(lack) }
            }
        }
        commands.send(RedisCommand("DISCARD")) { [self] result in
            let lack = Self.refusal(result)?.lack(of: "discard")
            if case .failure(let error) = result, lack == nil { return failed(error) }
            if let lack { shortfall.add(lack) }
            shortfall.rights = rights.all.filter(shortfall.rights.contains)
            promise.succeed(shortfall)
        }
    }

    private static func refusal(_ result: Result<RedisValue, RedisError>) -> RedisServerError? {
        guard case .failure(let error) = result else { return nil }
        return error.underlying as? RedisServerError
    }

    /// Handles a failure. After a lost connection, the check starts again on reconnect, and after a temporary error it
    /// is repeated; any other error is final.
    private func failed(_ error: RedisError) {
        guard case .server = error.code else { return }
        guard error.retry else { return promise.fail(error) }
        commands.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(200)) { [weak self] in
            guard let self, commands.isConnected else { return }
            ask()
        }
    }
}
