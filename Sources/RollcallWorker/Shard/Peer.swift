// Who is at the other end of a session: a device behind a WebSocket, or one of this process.

internal import RollcallModel

/// The connection of a session.
enum Peer {
    case edge(EdgeConnection)
    case local(LocalConnection)

    var slot: Int32 {
        switch self {
        case .edge(let connection): connection.slot
        case .local(let connection): connection.slot
        }
    }

    static func === (left: Peer, right: Peer) -> Bool {
        switch (left, right) {
        case (.edge(let left), .edge(let right)): left === right
        case (.local(let left), .local(let right)): left === right
        case (.edge, .local), (.local, .edge): false
        }
    }

    func tellWhenDrained() {
        switch self {
        case .edge(let connection): connection.tellWhenDrained()
        case .local(let connection): connection.tellWhenDrained()
        }
    }

    /// Reads no more than has come already. What this process itself says may wait in the shard.
    func hold() {
        if case .edge(let connection) = self { connection.hold() }
    }

    func listen() {
        if case .edge(let connection) = self { connection.listen() }
    }

    /// Counts a limit that has held. Of this process's own sessions nobody wants to be told.
    func limitHit(_ limit: Limit) {
        if case .edge(let connection) = self { connection.loop.limitHit(limit) }
    }

    func close(_ code: CloseCode) {
        switch self {
        case .edge(let connection): connection.close(code)
        case .local(let connection): connection.close(code)
        }
    }
}

/// A message on its way to its sessions: made a frame once, and only if one of them is behind a socket.
struct Dispatch {
    private let message: ServerMessage
    private lazy var frame = ServerFrame(message)

    init(_ message: ServerMessage) {
        self.message = message
    }

    /// - Parameter counting: see ``EdgeConnection/send(_:counting:)``.
    /// - Returns: whether it was not dropped.
    mutating func send(to peer: Peer?, counting: Bool = true) -> Bool {
        switch peer {
        case .edge(let connection): connection.send(frame, counting: counting)
        case .local(let connection): connection.send(message)
        case nil: false
        }
    }

    /// The session is behind and will be sent something newer.
    mutating func spare(_ peer: Peer?) {
        if case .edge(let connection) = peer { connection.spare(frame) }
    }
}
