// A simulated TCP connection: two pipes, and two ends that learn late, or never, that the other end is gone.

internal import RollcallCore

/// Receives the events of one end of a connection.
protocol ConnectionEnd: AnyObject {
    /// Called at the server when the connection is established.
    func connectionBegan(_ connection: Connection)
    /// Called when the other end closed the connection, or the network reset it.
    func connectionEnded(_ connection: Connection)
}

extension ConnectionEnd {
    func connectionBegan(_ connection: Connection) {}
}

/// A connection between a client and a server.
final class Connection {
    enum Side { case client, server }

    private let agenda: Agenda
    private let up: Pipe
    private let down: Pipe
    private weak var client: (any ConnectionEnd)?
    private weak var server: (any ConnectionEnd)?
    private(set) var isOpenAtClient = true
    private(set) var isOpenAtServer = false
    /// Called when anything arrives at the client.
    var onClientHeard: () -> Void = {}
    /// Called when the client learns that the connection ended.
    var onClientLeft: () -> Void = {}

    init(over route: Route, client: any ConnectionEnd, agenda: Agenda) {
        self.agenda = agenda
        self.client = client
        up = Pipe(over: route.up, agenda: agenda)
        down = Pipe(over: route.down, agenda: agenda)
    }

    /// Sends the client's connection request.
    ///
    /// - Parameters:
    ///   - accept: called at the server when the request arrives; `nil` refuses the connection.
    ///   - opened: called at the client when the answer arrives.
    func open(accept: @escaping () -> (any ConnectionEnd)?, opened: @escaping () -> Void) {
        up.send { [self] in
            if let end = accept() {
                server = end
                isOpenAtServer = true
                end.connectionBegan(self)
                sendToClient(opened)
            } else {
                sendToClient { [self] in end(at: .client) }
            }
        }
    }

    func sendToServer(_ arrival: @escaping () -> Void) {
        guard isOpenAtClient else { return }
        up.send { [self] in if isOpenAtServer { arrival() } }
    }

    func sendToClient(_ arrival: @escaping () -> Void) {
        down.send { [self] in
            guard isOpenAtClient else { return }
            onClientHeard()
            arrival()
        }
    }

    /// Closes one end. What it sent before still arrives, followed by the end of the connection.
    func close(at side: Side) {
        switch side {
        case .client:
            guard isOpenAtClient else { return }
            clientLeaves()
            up.send { [self] in end(at: .server) }
        case .server:
            guard isOpenAtServer else { return }
            isOpenAtServer = false
            down.send { [self] in end(at: .client) }
        }
    }

    /// Removes one end silently, and drops what it had sent, like a machine without power or a phone in a tunnel. The
    /// other end has to detect it.
    func vanish(at side: Side) {
        switch side {
        case .client: clientLeaves()
        case .server: isOpenAtServer = false
        }
        up.cut()
        down.cut()
    }

    /// Delays what is in flight to the server, however long the client has been gone.
    func holdBack(for pause: Duration) {
        up.holdBack(for: pause)
    }

    /// Resets the connection: what is in flight is lost, and both ends learn of the reset, each after its delay.
    func reset(after pauses: (client: Duration, server: Duration)) {
        up.cut()
        down.cut()
        agenda.after(pauses.client) { [self] in end(at: .client) }
        agenda.after(pauses.server) { [self] in end(at: .server) }
    }

    private func end(at side: Side) {
        switch side {
        case .client:
            guard isOpenAtClient else { return }
            clientLeaves()
            client?.connectionEnded(self)
        case .server:
            guard isOpenAtServer else { return }
            isOpenAtServer = false
            server?.connectionEnded(self)
        }
    }

    private func clientLeaves() {
        isOpenAtClient = false
        onClientLeft()
        onClientLeft = {}
        onClientHeard = {}
    }
}
