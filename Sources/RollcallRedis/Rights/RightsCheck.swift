// Asking Redis what its user may do, as that user: `ACL DRYRUN` would be made for it, but takes a right of its own that
// nobody should give, and Redis 7. A transaction that is never executed does as well: whether a command is allowed is
// looked at when it is queued.

public import Logging
public import NIOCore

/// Finds out which rights a worker would miss.
public enum RightsCheck {
    /// - Parameters:
    ///   - names: whose prefix the keys and channels have.
    ///   - timeout: how long Redis may take to be there.
    /// - Returns: the missing rights, in the order of ``WorkerRights/all``; fails with a ``RedisError`` if there is no
    ///   Redis in time, or none that lets us in.
    public static func missing(
        at location: RedisLocation, names: KeyNames, on eventLoop: any EventLoop, within timeout: Duration,
        logger: Logger
    ) -> EventLoopFuture<[RedisRight]> {
        let promise = eventLoop.makePromise(of: [RedisRight].self)
        eventLoop.execute {
            let check = Check(at: location, WorkerRights(names: names), on: eventLoop, logger: logger, promise)
            check.start(within: timeout)
        }
        return promise.futureResult
    }
}

/// One check, over a connection of its own. It lives until its promise is kept.
private final class Check {
    private let commands: CommandConnection
    private let rights: WorkerRights
    private let promise: EventLoopPromise<[RedisRight]>

    init(
        at location: RedisLocation, _ rights: WorkerRights, on eventLoop: any EventLoop, logger: Logger,
        _ promise: EventLoopPromise<[RedisRight]>
    ) {
        self.rights = rights
        self.promise = promise
        commands = CommandConnection(to: location, name: "rollcall-rights", on: eventLoop, logger: logger)
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
            switch result {
            case .success: queue(rights.probes.filter { !["MULTI", "DISCARD"].contains($0.command.name) })
            case .failure(let error) where error.code == .server(kind: "NOPERM"):
                promise.succeed([.command("multi"), .command("discard")])
            case .failure(let error): failed(error)
            }
        }
    }

    private func queue(_ probes: [RightProbe]) {
        var missing: Set<RedisRight> = []
        for probe in probes {
            commands.send(probe.command) { result in
                guard case .failure(let error) = result, let refusal = error.underlying as? RedisServerError,
                    let right = probe.missing(refusal)
                else { return }
                missing.insert(right)
            }
        }
        commands.send(RedisCommand("DISCARD")) { [self] result in
            switch result {
            case .success: break
            case .failure(let error) where error.code == .server(kind: "NOPERM"): missing.insert(.command("discard"))
            case .failure(let error): return failed(error)
            }
            promise.succeed(rights.all.filter(missing.contains))
        }
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
