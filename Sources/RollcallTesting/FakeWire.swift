// The connection of a client to a fake worker, and the worker's end of it.

internal import NIOCore
internal import RollcallClient

/// One connection. Used on the fake worker's loop only.
final class FakeWire: Wire {
    let mayDieSilently = false
    let user: UserID
    /// `nil` before the hello.
    var device: DeviceID?
    /// The conversations that the client has joined, and whether it asked for their members.
    var joined: [ConversationID: Bool] = [:]
    var watched: Set<UserID> = []

    private let loop: any EventLoop
    private weak var owner: (any WireOwner)?
    private weak var world: World?
    private var unsent: [ClientRequest] = []
    private var isOver = false

    init(of user: UserID, on loop: any EventLoop, owner: any WireOwner) {
        self.user = user
        self.loop = loop
        self.owner = owner
    }

    /// Connects in the next tick of the loop.
    func connect(to world: World) {
        soon {
            guard world.isReachable else { return self.finish(.notReached(nil)) }
            self.world = world
            world.opened(self)
            self.owner?.wireOpened(self)
        }
    }

    func send(_ request: ClientRequest) {
        unsent.append(request)
    }

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
        soon { self.owner?.wireReceived(self, message) }
    }

    func end(_ ending: Ending) {
        world = nil
        soon { self.finish(ending) }
    }

    private func finish(_ ending: Ending) {
        isOver = true
        owner?.wireEnded(self, how: ending)
    }

    private func soon(_ body: @escaping () -> Void) {
        loop.assumeIsolated().execute { if !self.isOver { body() } }
    }
}
