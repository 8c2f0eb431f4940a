// A shard's connection for commands: a pipeline whose replies arrive in order. If the connection is lost, all of them
// are lost.

internal import RedisTwin
internal import RollcallCore

/// Redis refused the command, or its reply is lost.
struct RedisFailure: Error {
    /// `nil` if the reply is lost, or the command was never sent.
    var refusal: RedisCommand.Refusal?
    /// Whether the command was never sent.
    var isUnsent = false

    /// Whether the command may have had an effect.
    var effect: StoreFailure { isUnsent || refusal != nil ? .withoutEffect : .unknown }
}

/// A shard's pipeline of commands.
final class CommandLink: RedisLinkUser {
    var onConnect: () -> Void = {}
    var onDisconnect: () -> Void = {}
    private(set) var isConnected = false

    private struct Waiting {
        let sent: Int
        let fail: () -> Void
    }

    private let link: RedisLink
    private var waiting: [Waiting] = []
    private var firstWaiting = 0
    private var heard = 0

    init(_ world: World, name: String, over route: Route, of process: Process) {
        link = RedisLink(world, name: name, over: route, of: process)
        link.user = self
    }

    func start() { link.start() }

    func close(holdingBackFor pause: Duration) {
        isConnected = false
        waiting = []
        link.close(holdingBackFor: pause)
    }

    /// Sends a command. If it cannot be sent, it fails at once.
    func send<Value>(
        _ kind: RedisCommand.Kind, _ execute: @escaping (inout TwinRedis) -> Value,
        reply: @escaping (Result<Value, RedisFailure>) -> Void
    ) {
        guard isConnected else { return reply(.failure(RedisFailure(isUnsent: true))) }
        enqueue(kind, execute, reply: reply)
    }

    private func enqueue<Value>(
        _ kind: RedisCommand.Kind, _ execute: @escaping (inout TwinRedis) -> Value,
        reply: @escaping (Result<Value, RedisFailure>) -> Void
    ) {
        waiting.append(Waiting(sent: link.ticks) { reply(.failure(RedisFailure())) })
        link.send { [self] session, isCurrent in
            let command = RedisCommand(kind: kind) { twin in
                let value = execute(&twin)
                return { self.link.arrives(if: isCurrent) { self.answered { reply(.success(value)) } } }
            } refuse: { refusal in
                self.link.arrives(if: isCurrent) {
                    self.refused(refusal) { reply(.failure(RedisFailure(refusal: refusal))) }
                }
            }
            session.received(command)
        }
    }

    private func answered(_ reply: () -> Void) {
        heard = link.ticks
        firstWaiting += 1
        if firstWaiting > 64 {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        reply()
    }

    private func refused(_ refusal: RedisCommand.Refusal, _ reply: () -> Void) {
        answered(reply)
        // A replica was promoted in the meantime.
        if refusal == .readOnly { link.drop("it leads to a replica") }
    }

    // MARK: Connection events

    func linkOpened() {
        enqueue(.ping) { _ in
        } reply: { [self] result in
            switch result {
            case .success:
                isConnected = true
                onConnect()
            case .failure: link.drop("Redis is not ready")
            }
        }
    }

    func linkTicked() {
        if firstWaiting < waiting.count {
            if link.isOverdue(since: max(waiting[firstWaiting].sent, heard)) { link.drop("no answer") }
        } else if link.ticks % RedisLink.ticksPerPing == 0 {
            enqueue(.ping) { _ in
            } reply: { _ in
            }
        }
    }

    func linkLost() {
        let wasConnected = isConnected
        isConnected = false
        let lost = waiting[firstWaiting...]
        waiting = []
        firstWaiting = 0
        for command in lost { command.fail() }
        if wasConnected { onDisconnect() }
    }
}
