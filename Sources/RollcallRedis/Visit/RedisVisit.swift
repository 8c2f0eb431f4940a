// A short-lived connection to Redis: one connection attempt, some commands, and a close. Unlike a worker's connections,
// it does not retry, so that callers see at once why Redis cannot be used.

package import Logging
package import NIOCore

/// A connection for a few commands to the server, the primary, or one node of a cluster. Usable from any task.
package struct RedisVisit: Sendable {
    private let connection: NIOLoopBound<CommandConnection>
    private let eventLoop: any EventLoop

    /// Connects, once to each address of the host.
    ///
    /// - Parameter timeout: how long finding the server, and connecting to it, may each take. A Redis that accepts the
    ///   connection and sends nothing has three more seconds.
    /// - Throws: the ``RedisError`` that says why Redis is unreachable or refuses access.
    package init(
        to topology: Topology, on eventLoop: any EventLoop, within timeout: Duration, logger: Logger
    ) async throws {
        self.eventLoop = eventLoop
        let address = try await topology.firstPrimary(within: timeout, on: eventLoop)
        let opened = eventLoop.makePromise(of: Void.self)
        connection = try await eventLoop.submit {
            let connection = CommandConnection(
                to: topology.endpoint(at: address), name: "rollcall-visit", on: eventLoop, logger: logger,
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

    /// Closes the connection.
    package func close() async {
        try? await eventLoop.submit { [connection] in connection.value.close() }.get().get()
    }
}

extension Topology {
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
