// A connection as TCP makes it: two pipes, and two ends that learn of each other's end late or not at all.

internal import RollcallCore

/// What a connection's end hears of it.
protocol ConnectionEnd: AnyObject {
    /// A server's end: the connection stands.
    func connectionBegan(_ connection: Connection)
    /// The other end closed it, or the network reset it.
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
    /// Called when anything has come to the client.
    var onClientHeard: () -> Void = {}
    /// Called when the client knows of the end.
    var onClientLeft: () -> Void = {}

    init(over route: Route, client: any ConnectionEnd, agenda: Agenda) {
        self.agenda = agenda
        self.client = client
        up = Pipe(over: route.up, agenda: agenda)
        down = Pipe(over: route.down, agenda: agenda)
    }

    /// The client's first message, to whoever listens.
    ///
    /// - Parameters:
    ///   - accept: asks the server when the message arrives; `nil` refuses the connection.
    ///   - opened: the client's, when the answer arrives.
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

    /// One end closes. What it sent before still arrives, and then the news of the end.
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

    /// One end is gone without a word, and what it had sent is lost: a machine that lost its power, a telephone in a
    /// tunnel. The other end finds out by itself.
    func vanish(at side: Side) {
        switch side {
        case .client: clientLeaves()
        case .server: isOpenAtServer = false
        }
        up.cut()
        down.cut()
    }

    /// What is on its way to the server is held back somewhere, however long the client has been dead.
    func holdBack(for pause: Duration) {
        up.holdBack(for: pause)
    }

    /// The network ends the connection: what is on its way is lost, and both ends are told, each after a while.
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
