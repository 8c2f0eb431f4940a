// All of Rollcall's operations on Redis, one method each. The names, arguments and replies of the scripts are used only
// here. The store makes no decisions; it returns those of Redis.

import RollcallProtocol

/// Rollcall's data in Redis.
///
/// Bound to the event loop of its commands: call it there, and replies arrive there. Each call is sent at once, in
/// order with the others, and never repeated here.
public final class Store {
    public typealias Reply<Value> = (Result<Value, RedisError>) -> Void

    /// The configuration that the scripts need.
    public struct Settings: Hashable, Sendable {
        public var names: KeyNames
        /// `presence.retention`: how long the record of an offline user is kept after its last change.
        public var retention: Duration
        /// `typing.expiry`: the longest duration of one typing signal.
        public var typingExpiry: Duration
        /// `events.keep`: how many events to keep; `nil` if they are off.
        public var keptEvents: Int?
        /// Whether reads of conversations tell what an app's server has answered about access.
        public var readsAccess: Bool

        public init(
            names: KeyNames = KeyNames(), retention: Duration = .seconds(30 * 86_400),
            typingExpiry: Duration = .seconds(3), keptEvents: Int? = nil, readsAccess: Bool = false
        ) {
            self.names = names
            self.retention = retention
            self.typingExpiry = typingExpiry
            self.keptEvents = keptEvents
            self.readsAccess = readsAccess
        }
    }

    let commands: RedisClient
    let settings: Settings

    public init(on commands: RedisClient, settings: Settings) {
        self.commands = commands
        self.settings = settings
    }

    public var names: KeyNames { settings.names }

    /// These keys and, for a script that appends to it, the stream of events.
    func keys(_ keys: String...) -> [String] { settings.keptEvents == nil ? keys : keys + [names.events] }

    /// Calls a script and decodes its reply. A reply that `read` cannot decode is a protocol error.
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
    /// Treats a foreign key under one of Rollcall's names as missing, so that it neither hides other keys nor causes
    /// retries.
    func orForeign(_ none: Success) -> Self {
        if case .failure(let error) = self, error.isForeignKey { return .success(none) }
        return self
    }
}

extension RedisCommand.Argument {
    static func time(_ time: Timestamp) -> Self { .integer(time.milliseconds) }

    /// A time that may be missing, which is 0 in Redis.
    static func time(orZero time: Timestamp?) -> Self { .integer(time?.milliseconds ?? 0) }

    static func milliseconds(_ duration: Duration) -> Self { .integer(duration.milliseconds) }
}

extension RedisValue {
    var time: Timestamp? { integer.map(Timestamp.init(milliseconds:)) }
}
