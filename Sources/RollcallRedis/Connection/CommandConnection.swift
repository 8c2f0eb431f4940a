// Pipelined commands: commands of one event-loop tick are sent in one write, and replies are matched to them by order.

package import Logging
package import NIOCore
import RollcallProtocol

/// A Lua script: one atomic decision. Redis caches it under its SHA-1, which `SCRIPT LOAD` returns.
public struct Script: Hashable, Sendable {
    /// The name in errors and logs, unique among the scripts of a connection.
    public let name: String
    public let source: String
    /// The name of a call in errors.
    let label: String

    public init(name: String, source: String) {
        self.name = name
        self.source = source
        label = "EVALSHA \(name)"
    }

    /// The script for a cluster, where sharded pub/sub sends a message only to the slot of its channel and not to every
    /// node.
    package var sharded: Script { Script(name: name, source: source.replacing("'PUBLISH'", with: "'SPUBLISH'")) }
}

/// A connection to one server for commands, bound to an event loop, that reconnects until it is closed.
///
/// Create and use it on its event loop only; all closures are called there. The owner keeps a reference and finally
/// calls ``close(_:)``. Commands are not queued while disconnected: a command that cannot be sent fails at once, and a
/// command without a reply fails when the connection is lost.
package final class CommandConnection {
    package typealias Reply = (Result<RedisValue, RedisError>) -> Void

    /// Commands that were sent together, and whose replies have not all arrived.
    private struct Pending {
        /// The name of each command in errors.
        let label: String
        let sentAt: NIODeadline
        /// The number of commands, and how many of them have been answered.
        let count: Int
        var answered = 0
        let take: Take

        /// The receiver of the replies: for one command, or with an index for several.
        enum Take {
            case one(Reply)
            case each((_ place: Int, Result<Flat, RedisError>) -> Void)
        }

        /// Delivers an error as the next reply, of only one command.
        func fail(_ failure: RedisError) {
            switch take {
            case .one(let take): take(.failure(failure))
            case .each(let take): take(answered, .failure(failure))
            }
        }
    }

    typealias Flat = RESPReply

    package let eventLoop: any EventLoop
    /// Called after each successful connect, when commands can be sent.
    package var onConnect: (() -> Void)?
    /// Called when a connection that ``onConnect`` announced is lost, after all pending commands have failed. Not
    /// called with ``RedisError/Code/closed``. A `READONLY` reply counts as a loss: the server is a replica now.
    package var onDisconnect: ((RedisError) -> Void)?
    /// Called after each failed connection attempt, before the next one starts.
    package var onFailedAttempt: ((RedisError) -> Void)?
    /// Called when Redis denies a command because of a missing right, before the command's reply is delivered.
    package var onDenied: ((RedisError) -> Void)?
    /// The number of commands that wait for their replies.
    package private(set) var waitingCount = 0

    package let connection: RedisConnection
    let reads = ReadWindow()
    private var waiting = CircularBuffer<Pending>()
    /// When the replies that are being read arrived.
    private var readAt: NIODeadline?
    /// The SHA-1 of each loaded script, by script name.
    private var hashes: [String: String] = [:]

    /// - Parameters:
    ///   - name: the connection's name in `CLIENT LIST`; without spaces.
    ///   - scripts: loaded on each connect, so that ``call(_:keys:arguments:reply:)`` need not send their source.
    package init(
        to endpoint: Endpoint, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings(), scripts: [Script] = []
    ) {
        self.eventLoop = eventLoop
        let loaded = NIOLoopBoundBox<((String, String) -> Void)?>(nil, eventLoop: eventLoop)
        connection = RedisConnection(to: endpoint, on: eventLoop, logger: logger, settings: settings) { location in
            var steps = HandshakeStep.introduction(location, name: name)
            if location.database != 0 { steps.append(.select(location.database)) }
            steps += endpoint.role(at: location)
            // A script that was not loaded is sent as source when it is called.
            return steps
                + scripts.map { script in
                    HandshakeStep(command: RedisCommand("SCRIPT", "LOAD", .string(script.source))) { reply in
                        if let hash = reply.tree.text { loaded.value?(script.name, hash.string) }
                        return nil
                    }
                }
        }
        loaded.value = { [weak self] in self?.hashes[$0] = $1 }
        connection.user = self
    }

    /// Connects, and from then on reconnects. Must be called once.
    package func start() { connection.start() }

    /// Closes the connection for good; pending commands fail.
    package func close(_ reason: RedisError = .closed) -> EventLoopFuture<Void> { connection.close(reason) }

    /// Whether commands can be sent.
    package var isConnected: Bool { connection.isReady }
    /// Why there is no connection at this moment; `nil` while connected, and before the first attempt has failed.
    package var lastError: RedisError? { connection.lastError }
}

// MARK: Sending

extension CommandConnection {
    /// Sends a command.
    ///
    /// - Parameters:
    ///   - label: the command's name in errors.
    ///   - reply: called once, in the order in which commands were sent. An error reply from Redis is a failure. If the
    ///     command cannot be sent, `reply` is called before this method returns.
    package func send(_ command: RedisCommand, label: String? = nil, reply: @escaping Reply) {
        let label = label ?? command.name
        if let refusal = refusal(of: 1, label: label) { return reply(.failure(refusal)) }
        connection.write(command)
        append(Pending(label: label, sentAt: .now(), count: 1, take: .one(reply)))
    }

    /// Sends several commands as one unit: they are written in one piece, and each reply is delivered before the next
    /// is parsed.
    ///
    /// - Parameters:
    ///   - write: appends the command at an index to the output.
    ///   - reply: called once for each index, in order. An error reply from Redis fails only that index. If the
    ///     commands cannot be sent, all fail before this method returns.
    func send(
        _ label: String, count: Int, write: (Int, inout ByteBuffer) -> Void,
        reply: @escaping (_ place: Int, Result<Flat, RedisError>) -> Void
    ) {
        guard count > 0 else { return }
        if let refusal = refusal(of: count, label: label) {
            return (0..<count).forEach { reply($0, .failure(refusal)) }
        }
        connection.write(count: count) { output in for place in 0..<count { write(place, &output) } }
        append(Pending(label: label, sentAt: .now(), count: count, take: .each(reply)))
    }

    /// Runs a script.
    ///
    /// If the script was passed to the connection's initializer, only its hash is sent, otherwise the source. If Redis
    /// has lost the script (`SCRIPT FLUSH`), the call is sent again with the source, once. It then runs after any
    /// commands sent in between, so calls whose order matters must carry it in their arguments. Calls in one pipeline
    /// that are all sent again keep their order.
    ///
    /// - Parameter reply: as for ``send(_:label:reply:)``; errors name the script.
    package func call(
        _ script: Script, keys: [String], arguments: [RedisCommand.Argument], reply: @escaping Reply
    ) {
        guard let hash = hashes[script.name] else {
            return send(script.call("EVAL", script.source, keys, arguments), label: script.label, reply: reply)
        }
        let command = script.call("EVALSHA", hash, keys, arguments)
        send(command, label: script.label) { [unowned self] result in
            guard case .failure(let error) = result, error.code == .server(kind: "NOSCRIPT") else {
                return reply(result)
            }
            let whole = RedisCommand("EVAL", arguments: [.string(script.source)] + command.arguments.dropFirst())
            send(whole, label: script.label, reply: reply)
        }
    }

    /// Returns why this many commands cannot be sent now; `nil` if they can.
    private func refusal(of count: Int, label: String) -> RedisError? {
        eventLoop.assertInEventLoop()
        guard isConnected else { return .notSent(label, because: lastError) }
        let most = connection.settings.maximumWaiting
        guard waitingCount > most - count else { return nil }
        let error = RedisError(.tooManyWaiting, command: label, "\(most) commands wait for their replies already")
        connection.tally.failed(error)
        return error
    }

    private func append(_ pending: Pending) {
        waiting.append(pending)
        waitingCount += pending.count
    }
}

extension Script {
    /// The command that calls the script, by its hash or its source.
    func call(
        _ name: String, _ script: String, _ keys: [String], _ arguments: [RedisCommand.Argument]
    ) -> RedisCommand {
        var all: [RedisCommand.Argument] = []
        all.reserveCapacity(2 + keys.count + arguments.count)
        all.append(.string(script))
        all.append(.integer(Int64(keys.count)))
        for key in keys { all.append(.string(key)) }
        all.append(contentsOf: arguments)
        return RedisCommand(name, arguments: all)
    }
}

// MARK: Events of the connection

extension CommandConnection: ConnectionUser {
    func connected() { onConnect?() }
    func readEnded() { readAt = nil }
    func willFlush() {}
    func ticked() {}
    func ping() { send(RedisCommand("PING")) { _ in } }

    var pendingCommand: String? { waiting.first?.label }

    func received(_ reply: Flat) {
        guard let pending = waiting.first else {
            return connection.drop(RedisError(.protocolError, "Redis sent a reply to no command"))
        }
        waitingCount -= 1
        if pending.answered == pending.count - 1 {
            waiting.removeFirst()
        } else {
            waiting[waiting.startIndex].answered += 1
        }
        let readAt = readAt ?? .now()
        self.readAt = readAt
        connection.tally.answered(after: (readAt - pending.sentAt).nanoseconds)
        if let line = reply.error { return failed(pending, RedisError(reply: line, command: pending.label)) }
        switch pending.take {
        case .one(let take): take(.success(reply.tree))
        case .each(let take): take(pending.answered, .success(reply))
        }
    }

    /// Handles an error reply.
    private func failed(_ pending: Pending, _ failure: RedisError) {
        connection.tally.failed(failure)
        if failure.isDenied { onDenied?(failure) }
        pending.fail(failure)
        if failure.isAboutConnection { connection.drop(failure) }
    }

    func lost(_ error: RedisError, wasReady: Bool) {
        hashes = [:]
        let lost = waiting
        waiting.removeAll()
        waitingCount = 0
        for var pending in lost {
            let failure = error.whileWaiting(pending.label)
            while pending.answered < pending.count {
                pending.fail(failure)
                pending.answered += 1
            }
        }
        guard error.code != .closed else { return }
        if wasReady { onDisconnect?(error) } else { onFailedAttempt?(error) }
    }
}
