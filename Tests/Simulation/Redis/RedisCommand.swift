// What travels to Redis: one command, and what becomes of its reply.

internal import RedisTwin

/// A command on its way.
struct RedisCommand {
    enum Kind: String, CaseIterable {
        case ping, heartbeat, standing, forget, list, unlist, write, readPresence, audit, claimSweep, sweep
        case signalTyping, stopTyping, readRoom, announce
    }

    /// Why Redis would not do it.
    enum Refusal: String, CaseIterable {
        /// `OOM`: what needs memory is refused.
        case outOfMemory
        /// `READONLY`: it is a replica now.
        case readOnly
        /// `MISCONF`, `NOREPLICAS`: it answers, and takes no writes.
        case noWrites
        /// `LOADING`, `BUSY` and the like.
        case everything
    }

    let kind: Kind
    /// Does it, and gives back what the reply does where it arrives.
    let execute: (inout TwinRedis) -> () -> Void
    /// What an error does where it arrives.
    let refuse: (Refusal) -> Void
}

extension RedisCommand.Kind {
    /// Whether Redis refuses this in that condition. Scripts that begin with a write that is always permitted run
    /// even without memory.
    func isRefused(because refusal: RedisCommand.Refusal) -> Bool {
        switch refusal {
        case .outOfMemory: self == .signalTyping
        case .readOnly, .noWrites: !isReadOnly
        case .everything: true
        }
    }

    /// Whether a replica would do it. It publishes, too.
    private var isReadOnly: Bool {
        switch self {
        case .ping, .standing, .readPresence, .audit, .readRoom, .announce: true
        case .heartbeat, .forget, .list, .unlist, .write, .claimSweep, .sweep, .signalTyping, .stopTyping: false
        }
    }

    /// Whether a worker does this of itself, however still its devices are.
    var isRoutine: Bool {
        switch self {
        case .ping, .heartbeat, .audit: true
        case .standing, .forget, .list, .unlist, .write, .readPresence, .claimSweep, .sweep, .signalTyping,
            .stopTyping, .readRoom, .announce:
            false
        }
    }
}
