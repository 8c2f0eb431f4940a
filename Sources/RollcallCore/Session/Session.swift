// One connection, and the device behind it once it has said hello.

internal import RollcallModel

/// A session of a shard, from its connection to the last write about its device.
public struct Session: Sendable {
    enum Phase: Hashable, Sendable {
        /// Connected; no hello yet.
        case greeting
        /// Its token is being looked at, which is soon over: the other phases need no room for what is kept meanwhile.
        indirect case authenticating(ClientMessage.Hello, id: MessageID?, since: Instant)
        /// Welcomed.
        case open
        /// The connection was lost; the device keeps its presence until this moment.
        case inGrace(until: Instant)
        /// Only its record is still to be put right.
        case ending
    }

    /// What somebody said: a message, what was meant to be one, or no JSON object.
    enum Said: Hashable, Sendable {
        case request(ClientRequest)
        case error(MessageError)
        case garbage

        var isGoodbye: Bool {
            if case .request(let request) = self, case .goodbye = request.message { return true }
            return false
        }
    }

    var phase = Phase.greeting
    let connected: Instant
    var bucket: TokenBucket
    /// What its `get`s and `watch`es may still name: each name is looked up in Redis.
    var names: TokenBucket
    /// What it has said since its hello, whose token may yet turn out to be bad; `nil` while it is heard at once.
    var held: [Said]?
    /// Who is calling, and how their device's record follows; from the hello on.
    var recorder: DeviceRecorder?
    var joined: [RoomKey] = []
    /// For those of them in which it has typed.
    var senders: [Sender] = []
    /// Rooms whose read a join of this session waits for.
    var joining: [RoomKey] = []
    /// Whom the client asked to watch; members of joined conversations are watched beside them.
    var watched = Roster<Watch>()
    /// What its `get`s that are not answered yet weigh.
    var getting = 0
    /// When the token ends, and the session with it unless a fresh one comes.
    var tokenExpires: Instant?
    /// When the worker, draining, sends the client elsewhere.
    var leaves: Instant?
    /// Messages to acknowledge once a decision stands in Redis.
    var acks: [(sequence: Int64, id: MessageID)] = []

    /// What a `get` counts against the limit: an empty one has an answer too.
    static func weight(ofGetting users: [UserID]) -> Int { max(1, users.count) }

    init(now: Instant, limits: ServerMessage.Limits) {
        connected = now
        bucket = TokenBucket(rate: limits.messageRate, burst: limits.messageBurst, now: now)
        names = TokenBucket(
            rate: max(1, limits.watchedUsers / ShardSettings.secondsToNameAll),
            burst: limits.watchedUsers * ShardSettings.namesAtOnce, now: now)
    }

    /// Whether there is a connection to send to.
    var isConnected: Bool {
        switch phase {
        case .greeting, .authenticating, .open: true
        case .inGrace, .ending: false
        }
    }

    /// Whether it says the most that a device can say: asserted first, so that no user seems less than they are.
    var saysMost: Bool { recorder?.state == .active && recorder?.lost == nil }

    var user: UserID? { recorder?.name.user }

    /// A join has come to its end. What is empty keeps no memory, here and below: nearly all sessions wait for nothing.
    mutating func waitsNoMore(for room: RoomKey) {
        joining = joining.filter { $0 != room }
    }

    /// Takes the acknowledgements of decisions that stand in Redis by now.
    mutating func takeWritten() -> [MessageID] {
        guard let recorder, !acks.isEmpty else { return [] }
        let written = acks.prefix { recorder.isWritten($0.sequence) }
        guard !written.isEmpty else { return [] }
        acks = Array(acks.dropFirst(written.count))
        return written.map(\.id)
    }
}
