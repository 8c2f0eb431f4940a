// What one message may cost: work amplification is a broken promise like any other.

internal import RollcallCore
internal import RollcallModel

/// Work that a shard wants done at once because of one message.
struct Work: Hashable {
    /// Commands to Redis, a look-up of several users counting as many.
    var commands = 0
    /// Channels to be subscribed or unsubscribed. Each subscription is followed by one look-up.
    var channels = 0
    /// Frames to sessions, besides the one answer that each message has.
    var frames = 0

    init(commands: Int = 0, channels: Int = 0, frames: Int = 0) {
        (self.commands, self.channels, self.frames) = (commands, channels, frames)
    }

    init(of actions: [ShardAction]) {
        for action in actions {
            switch action {
            case .send(.ack, _), .send(.error, _): break
            case .send(_, let keys), .sendSparing(_, let keys, _): frames += keys.count
            case .sendSnapshot: frames += 1
            case .subscribe, .unsubscribe: channels += 1
            case .list, .unlist, .write, .announceReplaced, .signalTyping, .stopTyping, .readRoom: commands += 1
            case .readPresence(let users, _, _), .getPresence(let users, _, _, _): commands += users.count
            case .audit(let sessions, _): commands += 3 * sessions.count
            case .tellWhenDrained, .hold, .listen, .limitHit, .close, .authenticate, .assertAnew, .sweep: break
            }
        }
    }

    func exceeds(_ bound: Work) -> Bool {
        commands > bound.commands || channels > bound.channels || frames > bound.frames
    }

    var text: String { "\(commands) commands, \(channels) channels and \(frames) frames" }
}

extension Work {
    /// The table of bounds: the most that one message makes its worker do at once, whatever came before it.
    ///
    /// - Parameters:
    ///   - rooms: how many conversations a session has joined at most.
    ///   - users: how many users a session watches at most, and how many members of a conversation it is told of.
    static func bound(of message: ClientMessage, rooms: Int, users: Int) -> Work {
        let leavingAll = 2 * rooms + users * (rooms + 1)
        return switch message {
        // The list and the write of the device, and what is left when the session cannot be.
        case .hello: Work(commands: 2, frames: 3)
        case .token: Work(commands: 1 + rooms, channels: leavingAll, frames: 2)
        // In the background nobody types.
        case .state: Work(commands: 1 + rooms, frames: 1)
        case .watch(let named): Work(channels: named.count, frames: 2)
        case .unwatch(let named): Work(channels: named.count, frames: 1 + named.count)
        case .get(let named): Work(commands: named.count, frames: 1)
        case .join: Work(commands: 1, channels: 2 + users, frames: 2)
        case .leave: Work(commands: 1, channels: 2 + users, frames: 3)
        case .typing: Work(commands: 1, frames: 2)
        case .ping: Work(frames: 1)
        case .goodbye: Work(commands: 1 + rooms, channels: leavingAll, frames: 1)
        }
    }
}

extension Checks {
    /// A message came, and this is what follows at once: nothing if it waits to be taken.
    func checkWork(of message: ClientMessage, isTaken: Bool, _ actions: [ShardAction], for edge: EdgeSession) {
        // A message over the rate ends its session, and what ends with it is not the message's work.
        guard !actions.contains(where: { if case .close = $0 { true } else { false } }) else { return }
        let work = Work(of: actions)
        let bound =
            isTaken
            ? Work.bound(of: message, rooms: world.conversations.count, users: world.users.count) : Work()
        guard work.exceeds(bound) else { return }
        fail("bounded work", "\(edge.name) says \(message.text), which costs \(work.text), more than \(bound.text)")
    }
}
