// The connection of a client to a fake worker, and the worker's end of it.

internal import RollcallClient

/// One connection. Used on the fake worker's queue only.
final class FakeWire: Wire, @unchecked Sendable {
    let mayDieSilently: Bool
    let user: UserID
    /// `nil` before the hello.
    var device: DeviceID?
    /// The conversations that the client has joined, and whether it asked for their members.
    var joined: [ConversationID: Bool] = [:]
    /// Those of which it asked who is here.
    var follows: Set<ConversationID> = []
    var watched: Set<UserID> = []
    /// `nil` while the connection is not open.
    weak var world: World?
    private(set) weak var owner: (any WireOwner)?
    private let time: VirtualTime
    private var unsent: [ClientRequest] = []
    private var isOver = false

    /// Connects in the next tick.
    init(of user: UserID, to world: World, owner: any WireOwner) {
        world.attempts += 1
        mayDieSilently = world.isNetwork
        self.user = user
        self.owner = owner
        time = world.time
        soon { [unowned self] in
            switch world.listening {
            case .accepts:
                self.world = world
                world.sessions.append(self)
                self.owner?.wireOpened(self)
            case .refuses: finish(.notReached(nil))
            case .answers(let refusal): finish(.notReached(refusal))
            case .isSilent: break
            }
        }
    }

    func send(_ request: ClientRequest) { unsent.append(request) }

    func flush() {
        let requests = unsent
        unsent = []
        for request in requests { world?.received(request, from: self) }
    }

    func close(_ done: @escaping () -> Void) {
        abort()
        done()
    }

    func abort() {
        isOver = true
        world?.ended(self, nil)
        world = nil
    }

    // MARK: The worker's end

    func tell(_ message: ServerMessage) {
        soon { [self] in
            owner?.wireHeard(self)
            owner?.wireReceived(self, message)
        }
    }

    func end(_ ending: Ending) {
        world = nil
        soon { [self] in finish(ending) }
    }

    private func finish(_ ending: Ending) {
        isOver = true
        owner?.wireEnded(self, how: ending)
    }

    func soon(_ body: @escaping @Sendable () -> Void) {
        time.soon { [weak self] in if let self, !isOver { body() } }
    }
}
