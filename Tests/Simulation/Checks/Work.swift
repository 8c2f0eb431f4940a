// What one message may cost: excessive work is a broken promise like any other.

internal import RollcallCore
internal import RollcallProtocol

/// The work that a shard starts at once because of one message.
struct Work: Hashable {
    /// Commands to Redis; a lookup of several users counts once for each.
    var commands = 0
    /// Channels to subscribe to or unsubscribe from. Each subscription is followed by one lookup.
    var channels = 0
    /// Frames to sessions, besides the one answer to each message.
    var frames = 0

    init(commands: Int = 0, channels: Int = 0, frames: Int = 0) {
        (self.commands, self.channels, self.frames) = (commands, channels, frames)
    }

    static func += (work: inout Work, more: Work) {
        work.commands += more.commands
        work.channels += more.channels
        work.frames += more.frames
    }

    func exceeds(_ bound: Work) -> Bool {
        commands > bound.commands || channels > bound.channels || frames > bound.frames
    }

    var text: String { "\(commands) commands, \(channels) channels and \(frames) frames" }
}

extension Work {
    /// The table of limits: the most work that a message may cause at once, in any situation.
    ///
    /// - Parameters:
    ///   - rooms: the most conversations that a session has joined.
    ///   - users: the most users that a session watches, and the most members of a conversation that it is shown.
    static func bound(of message: ClientMessage, rooms: Int, users: Int) -> Work {
        let leavingAll = 2 * rooms + users * (rooms + 1)
        return switch message {
        // Listing the device or, while Redis takes no writes, the read that tells whether its token was revoked.
        case .hello: Work(commands: 3, frames: 3)
        case .token: Work(commands: 1 + 2 * rooms, channels: leavingAll, frames: 2)
        // A device in the background does not type, and is nowhere.
        case .state: Work(commands: 1 + 2 * rooms, frames: 1)
        case .watch(let named): Work(channels: named.count, frames: 2)
        case .unwatch(let named): Work(channels: named.count, frames: 1 + named.count)
        case .get(let named): Work(commands: named.count, frames: 1)
        // What waited for the join is asked.
        case .join: Work(commands: 1 + 2 * users, channels: 2 + users, frames: 2)
        case .leave: Work(commands: 2 + 2 * users, channels: 3 + users, frames: 3)
        case .enter, .exit: Work(commands: 1, frames: 1)
        case .typing: Work(commands: 1, frames: 2)
        // Each worker that has devices of the user is told.
        case .person: Work(commands: 8, frames: 2)
        case .ping: Work(frames: 1)
        case .goodbye: Work(commands: 1 + 2 * rooms, channels: leavingAll, frames: 1)
        }
    }
}

extension Checks {
    /// Checks the work that a message causes at once; there must be none if the message waits.
    func checkWork(of message: ClientMessage, isTaken: Bool, _ work: Work, for edge: EdgeSession) {
        let bound =
            isTaken
            ? Work.bound(of: message, rooms: world.conversations.count, users: world.users.count) : Work()
        guard work.exceeds(bound) else { return }
        fail("bounded work", "\(edge.name) says \(message.text), which costs \(work.text), more than \(bound.text)")
    }
}
