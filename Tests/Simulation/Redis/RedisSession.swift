// One client's connection, as Redis has it.

internal import RedisTwin
internal import RollcallCore
internal import RollcallModel

/// A connection to the simulated Redis, at its far end.
final class RedisSession: ConnectionEnd {
    let client: String
    private(set) var topics: Set<Topic> = []
    private let connection: Connection
    private unowned let server: RedisServer
    /// What messages do where they arrive; `nil` for a connection that sends commands.
    private var receive: (([UInt8], Topic) -> Void)?

    init(_ connection: Connection, from client: String, at server: RedisServer) {
        self.connection = connection
        self.client = client
        self.server = server
    }

    var isSubscriber: Bool { receive != nil }

    func received(_ command: RedisCommand) {
        server.perform { [self] in
            let reply = server.execute(command, from: client)
            connection.sendToClient(reply)
        }
    }

    /// From now on messages go to `receive`.
    func listens(_ receive: @escaping ([UInt8], Topic) -> Void) {
        self.receive = receive
    }

    /// - Parameter confirmed: called where the confirmation arrives.
    func subscribe(_ topic: Topic, confirmed: @escaping () -> Void) {
        server.perform { [self] in
            topics.insert(topic)
            connection.sendToClient(confirmed)
        }
    }

    func unsubscribe(_ topic: Topic, confirmed: @escaping () -> Void) {
        server.perform { [self] in
            topics.remove(topic)
            connection.sendToClient(confirmed)
        }
    }

    func push(_ payload: [UInt8], on topic: Topic) {
        guard let receive else { return }
        connection.sendToClient { receive(payload, topic) }
    }

    /// - Parameter pause: after what time the client knows.
    func drop(after pause: Duration) {
        connection.reset(after: (client: pause, server: .zero))
    }

    /// - Parameter found: called when the client knows.
    func vanish(found: @escaping () -> Void) {
        connection.onClientLeft = found
        connection.vanish(at: .server)
    }

    /// Lets go of the client.
    func end() {
        receive = nil
    }

    func connectionEnded(_ connection: Connection) {
        server.left(self)
    }
}
