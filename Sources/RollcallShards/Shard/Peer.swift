// The other end of a session: a device behind a WebSocket, or one in this process.

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

    /// Stops reading. Messages from this process may still wait in the shard.
    func hold() {
        if case .edge(let connection) = self { connection.hold() }
    }

    func listen() {
        if case .edge(let connection) = self { connection.listen() }
    }

    /// Counts a limit that took effect. Not for sessions of this process.
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

/// A message for several sessions. It is encoded at most once, and only if one of them has a socket.
struct Dispatch {
    private let message: ServerMessage
    private lazy var frame = ServerFrame(message)

    init(_ message: ServerMessage) {
        self.message = message
    }

    /// - Parameter counting: See ``EdgeConnection/send(_:counting:)``.
    /// - Returns: `false` if it was dropped.
    mutating func send(to peer: Peer?, counting: Bool = true) -> Bool {
        switch peer {
        case .edge(let connection): connection.send(frame, counting: counting)
        case .local(let connection): connection.send(message)
        case nil: false
        }
    }

    /// Counts a skipped message: the session is behind and will receive a newer state.
    mutating func spare(_ peer: Peer?) {
        if case .edge(let connection) = peer { connection.spare(frame) }
    }
}
