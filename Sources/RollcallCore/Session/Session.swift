// One connection, and the device behind it once it has said hello.

internal import RollcallModel

/// A session of a shard, from its connection to the last write about its device.
public struct Session: Sendable {
    enum Phase: Hashable, Sendable {
        /// Connected; no hello yet.
        case greeting
        /// Its token is being looked at, which is soon over: the other phases need no room for what is kept meanwhile.
        indirect case authenticating(ClientMessage.Hello, id: MessageID?)
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

        /// How many messages it counts as: a signature to check costs more than anything else that one message asks for.
        var cost: Int {
            if case .request(let request) = self, case .token = request.message { return ShardSettings.tokenCost }
            return 1
        }

        var isJoin: Bool {
            if case .request(let request) = self, case .join = request.message { return true }
            return false
        }

        var asksForMembers: Bool {
            if case .request(let request) = self, case .join(_, presence: true) = request.message { return true }
            return false
        }

        var isGoodbye: Bool {
            if case .request(let request) = self, case .goodbye = request.message { return true }
            return false
        }
    }

    /// Messages that wait to be taken, in order.
    struct Held: Sendable {
        private var said: [(said: Said, came: Instant)] = []
        private var taken = 0

        var count: Int { said.count - taken }
        var next: (said: Said, came: Instant)? { taken < said.count ? said[taken] : nil }
        var hasGoodbye: Bool { said[taken...].contains { $0.said.isGoodbye } }

        mutating func append(_ new: Said, came: Instant) { said.append((new, came)) }
        mutating func removeNext() { taken += 1 }
    }

    var phase = Phase.greeting
    let connected: Instant
    var budget: MessageBudget
    /// What it has said and is not taken yet; `nil` while each message is taken as it comes.
    var held: Held?
    /// Whether its token may yet turn out to be bad, so that nothing is taken.
    var isUnproven = false
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
    /// From when on a change of the device's state is written at once.
    var nextState = Instant(nanoseconds: 0)
    /// Whether a change of the device's state waits for that moment.
    var isStateDeferred = false

    /// What a `get` counts against the limit: an empty one has an answer too.
    static func weight(ofGetting users: [UserID]) -> Int { max(1, users.count) }

    init(now: Instant, settings: ShardSettings) {
        connected = now
        budget = MessageBudget(settings.limits, now: now)
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
