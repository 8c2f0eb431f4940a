// Asking Redis what its user may do, as that user: `ACL DRYRUN` would be made for it, but takes a right of its own that
// nobody should give, and Redis 7. A transaction that is never executed does as well: whether a command is allowed is
// looked at when it is queued.

public import Logging
public import NIOCore

/// Finds out what a worker would miss.
public enum RightsCheck {
    /// - Parameters:
    ///   - names: whose prefix the keys and channels have.
    ///   - isOfCluster: whether a node of a cluster is asked.
    ///   - timeout: how long Redis may take to be there.
    /// - Returns: what is missing; fails with a ``RedisError`` if there is no Redis in time, or none that lets us in.
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

/// One check, over a connection of its own. It lives until its promise is kept.
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

    /// Nothing is sent before the transaction stands: outside of one it would be done.
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

    /// Without transactions one command can be asked for all the same, and does nothing, for there is no such script. A
    /// user who may not run scripts either is none for a worker.
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

    /// A lost connection comes back, and is asked anew, as is a Redis that is busy; any other answer is final.
    private func failed(_ error: RedisError) {
        guard case .server = error.code else { return }
        guard error.retry else { return promise.fail(error) }
        commands.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(200)) { [weak self] in
            guard let self, commands.isConnected else { return }
            ask()
        }
    }
}
