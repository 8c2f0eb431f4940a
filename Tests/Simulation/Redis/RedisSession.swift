// One client's connection, as seen by Redis.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// The server's end of a connection to the simulated Redis.
final class RedisSession: ConnectionEnd {
    let client: String
    private(set) var topics: Set<Topic> = []
    private let connection: Connection
    private unowned let server: RedisServer
    /// What messages do when they arrive; `nil` for a connection that sends commands.
    private var receive: (([UInt8], Topic) -> Void)?
    /// When the last answer is sent, which later ones follow.
    private var lastAnswer = Instant(nanoseconds: 0)

    init(_ connection: Connection, from client: String, at server: RedisServer) {
        self.connection = connection
        self.client = client
        self.server = server
    }

    var isSubscriber: Bool { receive != nil }

    func received(_ command: RedisCommand) {
        server.perform { [self] in
            let reply = server.execute(command, from: client)
            lastAnswer = max(lastAnswer, server.nextAnswer)
            server.later(lastAnswer) { [connection] in connection.sendToClient(reply) }
        }
    }

    /// Delivers messages to `receive` from now on.
    func listens(_ receive: @escaping ([UInt8], Topic) -> Void) {
        self.receive = receive
    }

    /// - Parameter confirmed: called when the confirmation arrives.
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

    /// - Parameter pause: the time until the client notices.
    func drop(after pause: Duration) {
        connection.reset(after: (client: pause, server: .zero))
    }

    /// - Parameter found: called when the client notices.
    func vanish(found: @escaping () -> Void) {
        connection.onClientLeft = found
        connection.vanish(at: .server)
    }

    /// Drops the reference to the client.
    func end() {
        receive = nil
    }

    func connectionEnded(_ connection: Connection) {
        server.left(self)
    }
}
