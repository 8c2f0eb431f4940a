// What is sent to Redis: a command, and what its reply does.

internal import RedisTwin

/// A command in flight.
struct RedisCommand {
    enum Kind: String, CaseIterable {
        case ping, heartbeat, standing, forget, list, unlist, write, readPresence, audit, claimSweep, sweep
        case signalTyping, stopTyping, writeHere, writeAccess, readRoom, announce, writePerson, readPerson
    }

    /// Why Redis refuses a command.
    enum Refusal: String, CaseIterable {
        /// `OOM`: commands that need memory are refused.
        case outOfMemory
        /// `READONLY`: the server is a replica now.
        case readOnly
        /// `MISCONF`, `NOREPLICAS`: writes are refused.
        case noWrites
        /// `LOADING`, `BUSY` and similar errors.
        case everything
    }

    let kind: Kind
    /// Executes the command, and returns what the reply does when it arrives.
    let execute: (inout TwinRedis) -> () -> Void
    /// What an error does when it arrives.
    let refuse: (Refusal) -> Void
}

extension RedisCommand.Kind {
    /// Returns whether Redis refuses this command in that condition. Scripts that start with a write that is always
    /// permitted run even without memory.
    func isRefused(because refusal: RedisCommand.Refusal) -> Bool {
        switch refusal {
        case .outOfMemory: self == .signalTyping
        case .readOnly, .noWrites: !isReadOnly
        case .everything: true
        }
    }

    /// Whether a replica would execute it. Replicas publish as well.
    private var isReadOnly: Bool {
        switch self {
        case .ping, .standing, .readPresence, .readPerson, .audit, .readRoom, .announce: true
        case .heartbeat, .forget, .list, .unlist, .write, .claimSweep, .sweep, .signalTyping, .stopTyping, .writeHere,
            .writeAccess, .writePerson:
            false
        }
    }

    /// Whether workers send this regularly, even when their devices do nothing.
    var isRoutine: Bool {
        switch self {
        case .ping, .heartbeat, .audit: true
        case .standing, .forget, .list, .unlist, .write, .readPresence, .claimSweep, .sweep, .signalTyping,
            .stopTyping, .writeHere, .writeAccess, .writePerson, .readRoom, .readPerson, .announce:
            false
        }
    }
}
