// What Rollcall asks of Redis, each as one method: names, arguments and replies of the scripts are known here and
// nowhere else. The store decides nothing; it says what Redis decided.

import RollcallModel

/// Rollcall's data in Redis, over one way of commands.
///
/// It lives on their event loop: call it there, and replies come there. Each call is one command, sent at once and in order
/// with the others; none is repeated here.
public final class Store {
    public typealias Reply<Value> = (Result<Value, RedisError>) -> Void

    /// What the scripts need to know of the configuration.
    public struct Settings: Hashable, Sendable {
        public var names: KeyNames
        /// `presence.retention`: how long the record of a user who is offline is kept after its last change.
        public var retention: Duration
        /// `typing.expiry`: the longest that one signal can last.
        public var typingExpiry: Duration
        /// `conversations.default`: whether everybody is a member where no members are set.
        public var openByDefault: Bool
        /// `worker.lease`: how far ahead a write deadline can lie. `nil` is any, for a store that is given deadlines
        /// which belong to no lease.
        public var lease: Duration?

        public init(
            names: KeyNames = KeyNames(), retention: Duration = .seconds(30 * 86_400),
            typingExpiry: Duration = .seconds(3), openByDefault: Bool = true, lease: Duration? = nil
        ) {
            self.names = names
            self.retention = retention
            self.typingExpiry = typingExpiry
            self.openByDefault = openByDefault
            self.lease = lease
        }
    }

    let commands: RedisCommands
    let settings: Settings

    public init(on commands: RedisCommands, settings: Settings) {
        self.commands = commands
        self.settings = settings
    }

    public var names: KeyNames { settings.names }

    /// How far ahead scripts accept a write deadline; empty is any. In a cluster that is not judged: deadlines come
    /// from the clock of the primary that has the leases, and a record's primary whose clock is behind would refuse
    /// every write.
    var longestDeadline: RedisCommand.Argument {
        guard let lease = settings.lease, !commands.isSpread else { return "" }
        return .milliseconds(lease)
    }

    /// Calls a script and reads its reply; what `read` does not understand is a protocol error.
    func call<Value>(
        _ script: Script, keys: [String], _ arguments: RedisCommand.Argument..., reply: @escaping Reply<Value>,
        read: @escaping (RedisValue) -> Value?
    ) {
        call(script, keys: keys, arguments: arguments, reply: reply, read: read)
    }

    func call<Value>(
        _ script: Script, keys: [String], arguments: [RedisCommand.Argument], reply: @escaping Reply<Value>,
        read: @escaping (RedisValue) -> Value?
    ) {
        commands.call(script, keys: keys, arguments: arguments) { result in
            reply(result.flatMap { Self.understood($0, command: script.name, read) })
        }
    }

    static func understood<Value>(
        _ value: RedisValue, command: String, _ read: (RedisValue) -> Value?
    ) -> Result<Value, RedisError> {
        guard let value = read(value) else {
            return .failure(RedisError(.protocolError, command: command, "Redis answered what this never answers"))
        }
        return .success(value)
    }
}

extension Result where Failure == RedisError {
    /// A foreign key under one of our names counts as none: it must not hide the others, nor be waited for.
    func orForeign(_ none: Success) -> Self {
        if case .failure(let error) = self, error.isForeignKey { return .success(none) }
        return self
    }
}

extension RedisCommand.Argument {
    static func time(_ time: Timestamp) -> Self { .integer(time.milliseconds) }

    /// A moment that may be missing, which in Redis is 0.
    static func time(orZero time: Timestamp?) -> Self { .integer(time?.milliseconds ?? 0) }

    static func milliseconds(_ duration: Duration) -> Self { .integer(duration.milliseconds) }
}

extension RedisValue {
    var time: Timestamp? { integer.map(Timestamp.init(milliseconds:)) }
}
