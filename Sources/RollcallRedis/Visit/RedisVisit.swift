// A short-lived connection to Redis: one connection attempt, some commands, and a close. Unlike a worker's connections,
// it does not retry, so that callers see at once why Redis cannot be used.

package import Logging
package import NIOCore
package import RollcallProtocol

/// A connection for a few commands to the server, the primary, or one node of a cluster. Usable from any task.
package struct RedisVisit: Sendable {
    private let connection: NIOLoopBound<CommandConnection>
    private let eventLoop: any EventLoop

    /// Connects, once to each address of the host.
    ///
    /// - Parameters:
    ///   - address: the server; `nil` for the first primary.
    ///   - acceptsReplica: whether `redis.url` may lead to a replica.
    ///   - timeout: how long finding the server, and connecting to it, may each take. A Redis that accepts the
    ///   connection and sends nothing has three more seconds.
    /// - Throws: the ``RedisError`` that says why Redis is unreachable or refuses access.
    package init(
        to topology: Topology, at address: RedisLocation.Address? = nil, acceptsReplica: Bool = false,
        on eventLoop: any EventLoop, within timeout: Duration, logger: Logger
    ) async throws {
        self.eventLoop = eventLoop
        var place = address
        if place == nil { place = try await topology.firstPrimary(within: timeout, on: eventLoop) }
        guard let place else { throw RedisError.closed }
        var endpoint = topology.endpoint(at: place)
        if acceptsReplica, case .primary(false) = endpoint.kind { endpoint.kind = .server }
        let opened = eventLoop.makePromise(of: Void.self)
        connection = try await eventLoop.submit { [endpoint] in
            let connection = CommandConnection(
                to: endpoint, name: "rollcall-visit", on: eventLoop, logger: logger,
                settings: ConnectionSettings(connectTimeout: timeout))
            connection.onConnect = { opened.succeed() }
            connection.onFailedAttempt = { [unowned connection] error in
                if !connection.connection.hasOtherAddress { opened.fail(error) }
            }
            connection.start()
            return NIOLoopBound(connection, eventLoop: eventLoop)
        }.get()
        do {
            try await opened.futureResult.get()
        } catch {
            await close()
            throw error
        }
    }

    /// Sends commands in one pipeline.
    ///
    /// - Returns: the result of each command, in order.
    package func ask(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
        let answers = eventLoop.submit { [connection] in
            let futures = commands.map { command in
                let answer = connection.value.eventLoop.makePromise(of: Result<RedisValue, RedisError>.self)
                connection.value.send(command) { answer.succeed($0) }
                return answer.futureResult
            }
            return EventLoopFuture.whenAllSucceed(futures, on: connection.value.eventLoop)
        }
        guard let answers = try? await answers.get().get() else {
            return commands.map { .failure(RedisError(.closed, command: $0.name, "the event loop has ended")) }
        }
        return answers
    }

    /// Sends a command.
    package func ask(_ name: String, _ arguments: String...) async -> Result<RedisValue, RedisError> {
        await ask([RedisCommand(name, arguments: arguments.map { .string($0) })])[0]
    }

    /// What tells the server from others, as it says itself; `nil` if it may not say so.
    package func runID() async -> ByteString? { (try? await ask("INFO", "server").get()).flatMap(\.runID) }

    /// Closes the connection.
    package func close() async {
        try? await eventLoop.submit { [connection] in connection.value.close() }.get().get()
    }
}

extension RedisValue {
    var runID: ByteString? {
        text?.parts(at: "\n").first { $0.begins(with: "run_id:") }?.parts(at: "\r").first
    }
}

// MARK: Messages

extension Topology {
    /// Subscribes to a channel of a server, and ends that again.
    ///
    /// - Returns: why messages cannot be received there; `nil` also if there is no connection at all.
    package func refusalToSubscribe(
        of names: KeyNames, at address: RedisLocation.Address, on eventLoop: any EventLoop, within timeout: Duration,
        logger: Logger
    ) async -> RedisError? {
        guard let (channel, topic) = channel(at: address, names) else { return nil }
        let refusal = eventLoop.makePromise(of: RedisError?.self)
        let late = eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            refusal.succeed(RedisError(.timedOut, command: "SUBSCRIBE", "no reply within \(timeout)"))
        }
        let opened = try? await eventLoop.submit { [self] in
            let connection = SubscriberConnection(
                to: endpoint(at: address), name: "rollcall-visit", isSharded: isCluster, on: eventLoop, logger: logger)
            connection.onDenied = { refusal.succeed($0) }
            connection.onDisconnect = { refusal.succeed($0) }
            connection.onFailedAttempt = { _ in refusal.succeed(nil) }
            connection.onSubscribed = { [unowned connection] _ in
                connection.unsubscribe(channel)
                // The command is sent between the two.
                connection.ping { connection.ping { refusal.succeed(nil) } }
            }
            connection.subscribe(channel, as: topic)
            connection.start()
            return NIOLoopBound(connection, eventLoop: eventLoop)
        }.get()
        let answer = try? await refusal.futureResult.get()
        late.cancel()
        try? await eventLoop.submit { opened?.value.close() }.get()?.get()
        return answer ?? nil
    }

    /// A channel that a server has, of those that workers have a right to.
    private func channel(at address: RedisLocation.Address, _ names: KeyNames) -> (String, Topic)? {
        (0..<100_000).lazy.compactMap { try? ConversationID("visit-\($0)") }.map { Topic.typing($0) }
            .map { (names.channel(of: $0), $0) }.first { !self.isCluster || self.map?[KeySlot.of($0.0)] == address }
    }

    /// Returns a primary as soon as there is a map.
    fileprivate func firstPrimary(
        within timeout: Duration, on eventLoop: any EventLoop
    ) async throws -> RedisLocation.Address {
        let (changes, follower) = AsyncStream.makeStream(of: Void.self)
        let token = Follower()
        follow(ObjectIdentifier(token)) { follower.yield() }
        defer { unfollow(ObjectIdentifier(token)) }
        eventLoop.scheduleTask(in: TimeAmount(timeout)) { follower.finish() }
        follower.yield()
        for await _ in changes {
            if let map { return map.primaries[0] }
            if let error { throw error }
        }
        throw error ?? RedisError(.connectFailed, "no server of the deployment answers in time")
    }

    private final class Follower {}
}
