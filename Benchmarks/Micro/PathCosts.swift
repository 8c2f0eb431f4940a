// A worker's two most frequent paths from end to end, without the operating system's part: from a client's message to
// the bytes of a command for Redis, and from a published message to the frame for its recipients.

import Logging
import NIOCore
import NIOEmbedded
import RollcallClient
import RollcallCore
import RollcallProtocol
import RollcallRedis
import RollcallServer

func measurePaths(_ bench: inout Bench) {
    measureSignal(&bench)
    measureChange(&bench)
}

private let server = RedisLocation(.host("127.0.0.1", port: 1))
private let logger = Logger(label: "micro-bench")

private func measureSignal(_ bench: inout Bench) {
    let loop = EmbeddedEventLoop()
    let connection = CommandConnection(
        to: Endpoint(server), name: "micro-bench", on: loop, logger: logger, scripts: Script.all)
    let topology = Topology(of: try! RedisDeployment(url: "redis://127.0.0.1:1"), on: loop, logger: logger)
    let store = Store(
        on: RedisClient(over: connection, of: topology, scripts: Script.all), settings: Store.Settings())
    let hash = "$40\r\n\(String(repeating: "a", count: 40))\r\n"
    let welcome = ByteBuffer(string: "+PONG\r\n+OK\r\n" + String(repeating: hash, count: Script.all.count))
    let reply = ByteBuffer(string: "*2\r\n$6\r\ntyping\r\n:1784599990000\r\n")
    let stage = ShardStage()
    let alice = stage.enter("alice")
    stage.say(.join("c42", presence: false), on: alice)
    let (codec, text) = (MessageCodec(), Array(Sample.signal.utf8))
    var outcomes = 0
    // Each sample has a new connection, whose output is empty.
    let connect = {
        connection.connection.begin(at: server)
        connection.connection.feed(welcome)
    }
    let send: SignalTaker = { signal, isOpen, reply in
        store.signalTyping(signal, isOpen: isOpen) {
            if case .success(.typing) = $0 { outcomes += 1 }
            reply($0.mapError { _ in .unknown })
        }
    }
    bench.row("a client's signal, to the bytes of its command, and its reply", prepare: connect) { _ in
        stage.pass(.milliseconds(1100))
        guard let request = text.withUnsafeBytes({ try? codec.request(from: $0) }) else {
            preconditionFailure("the signal is not read")
        }
        stage.received(request, on: alice, signal: send)
        let before = outcomes
        connection.connection.feed(reply)
        guard outcomes == before + 1 else { preconditionFailure("the command was not sent") }
    }
}

private func measureChange(_ bench: inout Bench) {
    let topic = Topic.typing("c42")
    let subscriber = subscriber(of: topic)
    let stage = ShardStage()
    for user: UserID in ["alice", "bob"] { stage.say(.join("c42", presence: false), on: stage.enter(user)) }
    subscriber.onMessage = { _, payload in
        guard let change = payload.withUnsafeReadableBytes({ try? TypingChange(jsonText: $0) }) else {
            preconditionFailure("the message is no change")
        }
        stage.heard(change, in: "c42")
    }
    // A time ahead of the clock counts as now, in each call.
    let pushes = [#"true,"expires_in":3000"#, "false"].map {
        push(#"{"user":"alice","typing":\#($0),"at":1884600000000}"#, on: topic)
    }
    bench.row("a published change, to the frame for a room of 2") {
        // As fast as the pace of a typist allows.
        stage.pass(.milliseconds(250))
        subscriber.connection.feed(pushes[$0 % 2])
        keep(ServerFrame(stage.tickEnded()))
    }
}

/// Returns a connection that a server seems to have accepted, with one confirmed channel.
func subscriber(of topic: Topic) -> SubscriberConnection {
    let channel = KeyNames().channel(of: topic)
    let subscriber = SubscriberConnection(
        to: Endpoint(server), name: "micro-bench", on: EmbeddedEventLoop(), logger: logger)
    subscriber.connection.begin(at: server)
    subscriber.connection.feed(ByteBuffer(string: "+PONG\r\n+OK\r\n"))
    subscriber.subscribe(channel, as: topic)
    subscriber.willFlush()
    subscriber.connection.feed(ByteBuffer(string: "*3\r\n\(bulk("subscribe"))\(bulk(channel)):1\r\n"))
    return subscriber
}

/// A message as Redis sends it.
func push(_ payload: String, on topic: Topic) -> ByteBuffer {
    ByteBuffer(string: "*3\r\n\(bulk("message"))\(bulk(KeyNames().channel(of: topic)))\(bulk(payload))")
}

private func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }
