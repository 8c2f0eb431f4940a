// What a scripted worker does on one connection, with or without a real socket.

import RollcallClient
import RollcallProtocol
import TestSupport

/// The worker's side of one client's connection.
protocol WorkerSide: Sendable {
    /// The client's messages, in order.
    var received: [ClientRequest] { get }
    /// The worker's clock.
    var time: Timestamp { get }
    func send(_ message: ServerMessage)
    func close(_ code: CloseCode)
    /// Closes the connection without a close frame.
    func drop()
}

extension WorkerSide {
    var messages: [ClientMessage] { received.map(\.message) }

    func count(_ matches: (ClientMessage) -> Bool) -> Int { messages.count(where: matches) }

    /// Sends welcomes, acknowledgements and empty snapshots, like any worker.
    func behave(
        _ request: ClientRequest, ping: Int64 = 10_000, limits: ServerMessage.Limits = .standard,
        watch: WatchRight = .all
    ) {
        switch request.message {
        case .hello(let hello):
            send(
                .welcome(
                    .init(
                        user: "alice", device: hello.device ?? "device", session: "s1", worker: "w1.abc",
                        time: time, ping: ping,
                        typing: .init(expiry: 3000, throttle: 1000), limits: limits, watch: watch)))
        case .join(let conversation, _, _):
            send(.typing(.init(conversation: conversation, users: [], count: 0)))
        case .watch(let users):
            send(.presence(users.map { .of($0, .offline) }))
        case .get(let users):
            send(.presence(users.map { .of($0, .away) }, id: request.id))
        case .ping:
            send(.pong(time: time))
        case .goodbye:
            close(.normal)
        case .token, .state, .unwatch, .leave, .enter, .exit, .typing, .person:
            break
        }
        if let id = request.id { send(.ack(id)) }
    }

    /// Waits until the client has sent these messages, possibly among others, in this order.
    func hears(_ messages: ClientMessage...) async throws {
        try await eventually("the worker hears \(messages), having heard \(self.messages)") {
            var rest = messages[...]
            for message in self.messages where message == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }
}

extension ClientMessage {
    var isTyping: Bool {
        if case .typing = self { true } else { false }
    }

    var isJoin: Bool {
        if case .join = self { true } else { false }
    }

    var isWatch: Bool {
        if case .watch = self { true } else { false }
    }

    var isGet: Bool {
        if case .get = self { true } else { false }
    }
}
