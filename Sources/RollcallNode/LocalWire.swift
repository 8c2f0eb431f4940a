// A client's connection to the node in its own process. Messages pass as values, on one event loop.

internal import NIOCore
internal import RollcallClient
internal import RollcallProtocol
internal import RollcallServer

/// One connection of a client to the node. Used on the event loop that both share, and only there.
final class LocalWire: Wire {
    let mayDieSilently = false
    private let user: UserID
    private let profile: Profile
    private let loop: any EventLoop
    private weak var owner: (any WireOwner)?
    private var connection: LocalConnection?
    private var unsent: [ClientRequest] = []
    /// Whether the owner knows or requested the end. Nothing more is delivered then.
    private var isOver = false

    init(of user: UserID, _ profile: Profile, on loop: any EventLoop, owner: any WireOwner) {
        self.user = user
        self.profile = profile
        self.loop = loop
        self.owner = owner
    }

    /// Connects in the next tick of the event loop.
    func connect(to edge: LocalEdge) {
        loop.assumeIsolated().execute { self.open(edge) }
    }

    func send(_ request: ClientRequest) {
        unsent.append(request)
    }

    func flush() {
        let requests = unsent
        unsent = []
        for request in requests { connection?.say(request) }
    }

    func close(_ done: @escaping () -> Void) {
        abort()
        done()
    }

    func abort() {
        isOver = true
        connection?.hangUp()
    }

    private func open(_ edge: LocalEdge) {
        guard !isOver else { return }
        connection = edge.connect(user, profile, on: loop, listener: self)
        if connection == nil {
            end(.notReached(NodeStopped()))
        } else {
            owner?.wireOpened(self)
        }
    }

    private func end(_ ending: Ending) {
        guard !isOver else { return }
        isOver = true
        owner?.wireEnded(self, how: ending)
    }
}

extension LocalWire: LocalListener {
    func receive(_ message: ServerMessage) {
        guard !isOver else { return }
        owner?.wireReceived(self, message)
    }

    func ended(_ code: CloseCode) {
        end(.closed(code))
    }
}

/// The node of this process has stopped or is stopping.
struct NodeStopped: Error, CustomStringConvertible {
    var description: String { "the node of this process has stopped" }
}
