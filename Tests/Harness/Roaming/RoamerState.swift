// The state of a ``Roamer``: its subscriptions, its connection, and what it does when the connection ends.

internal import NIOCore
internal import RollcallProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Used on its event loop only.
final class RoamerState {
    private typealias Answer = EventLoopPromise<ServerMessage>

    private let user: UserID
    private let device: DeviceID
    private let tokens: TokenSource
    private let hosts: Hosts
    private let loop: any EventLoop
    private let diary: Diary
    private var state: DeviceState
    private var watched: [UserID] = []
    private var joined: [(conversation: ConversationID, presence: Bool, here: Bool)] = []
    private var entered: [ConversationID] = []
    private var connection: LiveConnection?
    private var target = 0
    private(set) var host: Int?
    private var attempt: Scheduled<Void>?
    private var isWelcomed = false
    private var waiting: [MessageID: EventLoopPromise<ServerMessage>] = [:]
    /// Requests without a reply so far whose `ack` is to be recorded.
    private var noted: [MessageID: Note.Event] = [:]
    private var refresh: Scheduled<Void>?
    /// Fulfilled when the current session is welcomed, when its `hello` is acknowledged, and when the last `enter` is.
    private var arrival: (welcomed: EventLoopPromise<Void>, written: Answer, entered: Answer)?
    /// The `goodbye` of the worker, received before it closes the connection.
    private var farewell: ServerMessage.Goodbye?
    /// Abandoned connections that are still open.
    private var silent: [LiveConnection] = []
    private var lastID: Int64 = 0
    var manner: Roamer.Manner

    init(
        user: UserID, device: DeviceID, state: DeviceState, manner: Roamer.Manner, tokens: TokenSource, hosts: Hosts,
        on loop: any EventLoop, diary: Diary
    ) {
        (self.user, self.device, self.state, self.manner) = (user, device, state, manner)
        (self.tokens, self.hosts, self.loop, self.diary) = (tokens, hosts, loop, diary)
    }

    func come(to host: Int, until arrival: Roamer.Arrival) -> EventLoopFuture<Void> {
        leave(.fin)
        let promises = (
            welcomed: loop.makePromise(of: Void.self), written: loop.makePromise(of: ServerMessage.self),
            entered: loop.makePromise(of: ServerMessage.self)
        )
        self.arrival = promises
        connect(to: host)
        switch arrival {
        case .welcomed: return promises.welcomed.futureResult
        case .written where entered.isEmpty: return promises.written.futureResult.map { _ in }
        case .written: return promises.written.futureResult.and(promises.entered.futureResult).map { _ in }
        }
    }

    func ask(_ message: ClientMessage) -> EventLoopFuture<ServerMessage> {
        let promise = loop.makePromise(of: ServerMessage.self)
        send(message, answer: promise)
        return promise.futureResult
    }

    func say(_ message: ClientMessage) {
        send(message, answer: nil)
    }

    /// Ends the current connection, if any, and does not reconnect.
    func leave(_ how: Roamer.Loss) {
        attempt?.cancel()
        if let host { diary.note(.left(host: host)) }
        switch how {
        case .fin: connection?.lose(.fin)
        case .reset: connection?.lose(.reset)
        case .silence:
            connection?.lose(.silence)
            connection.map { silent.append($0) }
        }
        forget()
    }

    /// Ends everything, including abandoned connections.
    func end() {
        manner = .staysAway
        leave(.fin)
        for connection in silent { connection.lose(.fin) }
        silent = []
    }

    // MARK: Messages

    /// Stores subscriptions and the device's state, so that they are sent again on each new connection.
    private func send(_ message: ClientMessage, answer: EventLoopPromise<ServerMessage>?) {
        switch message {
        case .state(let state): self.state = state
        case .watch(let users): watched += users
        case .unwatch(let users): watched.removeAll { users.contains($0) }
        case .join(let conversation, let presence, let here):
            joined.removeAll { $0.conversation == conversation }
            joined.append((conversation, presence, here))
        case .leave(let conversation): joined.removeAll { $0.conversation == conversation }
        case .enter(let conversation, _) where !entered.contains(conversation): entered.append(conversation)
        case .goodbye: manner = .staysAway
        case .hello, .token, .get, .enter, .exit, .typing, .person, .ping: break
        }
        guard isWelcomed else {
            answer?.fail(Roamer.NoAnswer())
            return
        }
        transmit(message, answer: answer)
    }

    private func transmit(_ message: ClientMessage, answer: EventLoopPromise<ServerMessage>?) {
        lastID += 1
        waiting[.integer(lastID)] = answer
        noted[.integer(lastID)] = Note.Event(acknowledging: message)
        connection?.send(ClientRequest(message, id: .integer(lastID)))
    }

    private func received(_ message: ServerMessage) {
        switch message {
        case .welcome: welcomed()
        case .presence(let presences, let id):
            if let id { return _ = waiting.removeValue(forKey: id)?.succeed(message) }
            for presence in presences { diary.note(.presence(presence)) }
        case .typing(let typing): diary.note(.typing(typing))
        case .here(let here): diary.note(.here(here))
        case .ack(let id):
            if let event = noted.removeValue(forKey: id) { diary.note(event) }
            waiting.removeValue(forKey: id)?.succeed(message)
        case .error(let error):
            guard let id = error.id else { return }
            noted[id] = nil
            waiting.removeValue(forKey: id)?.succeed(message)
        case .removed(let conversation): diary.note(.removed(conversation))
        case .goodbye(let goodbye):
            diary.note(.goodbye(goodbye))
            farewell = goodbye
        case .members, .person, .pong: break
        }
    }

    // MARK: Connecting and disconnecting

    private func welcomed() {
        isWelcomed = true
        host = target
        diary.note(.welcomed(host: target))
        arrival?.welcomed.succeed()
        if !watched.isEmpty { transmit(.watch(watched), answer: nil) }
        for (conversation, presence, here) in joined {
            transmit(.join(conversation, presence: presence, here: here), answer: nil)
        }
        for conversation in entered {
            transmit(.enter(conversation), answer: conversation == entered.last ? arrival?.entered : nil)
        }
        scheduleRefresh()
    }

    private func scheduleRefresh() {
        guard let lifetime = tokens.refreshedAfter else { return }
        refresh = loop.assumeIsolated().scheduleTask(in: TimeAmount(lifetime)) { [weak self] in
            guard let self else { return }
            transmit(.token(ByteString(tokens.token(user, device))), answer: nil)
            scheduleRefresh()
        }
    }

    private func connect(to host: Int) {
        target = host
        diary.note(.tried(host: host))
        let hello = ClientMessage.hello(
            .init(token: ByteString(tokens.token(user, device)), device: device, state: state))
        let connection = LiveConnection(
            opened: { [weak self] in self?.transmit(hello, answer: self?.arrival?.written) },
            received: { [weak self] in self?.received($0) },
            ended: { [weak self] in self?.ended($0) })
        self.connection = connection
        guard let port = hosts.port(host) else { return ended(nil) }
        connection.connect(to: port, on: loop)
    }

    private func ended(_ code: CloseCode?) {
        if let host { diary.note(.ended(host: host, code)) }
        let farewell = farewell
        forget()
        guard code?.mayReconnect ?? true, farewell?.reconnect ?? true else { return }
        let pause = farewell?.after.map { TimeAmount.milliseconds($0) } ?? .milliseconds(.random(in: 20...150))
        let next: Int
        switch manner {
        case .staysAway: return
        case .returnsHome: next = target
        case .returns: next = farewell?.to.flatMap { hosts.host(at: $0.string) } ?? hosts.other(than: target)
        }
        attempt = loop.assumeIsolated().scheduleTask(in: pause) { [weak self] in
            self?.connect(to: next)
        }
    }

    private func forget() {
        (connection, host, isWelcomed, farewell) = (nil, nil, false, nil)
        refresh?.cancel()
        refresh = nil
        noted = [:]
        arrival?.welcomed.fail(Roamer.NoAnswer())
        arrival?.written.fail(Roamer.NoAnswer())
        arrival?.entered.fail(Roamer.NoAnswer())
        arrival = nil
        let unanswered = waiting
        waiting = [:]
        for promise in unanswered.values { promise.fail(Roamer.NoAnswer()) }
    }
}

extension Note.Event {
    /// The event to record when this message, sent now, is acknowledged; `nil` if none.
    fileprivate init?(acknowledging message: ClientMessage) {
        switch message {
        case .join(let conversation, _, _): self = .joined(conversation, asked: .now)
        case .typing(let conversation, true, _): self = .signalled(conversation, asked: .now)
        case .token: self = .refreshed
        case .hello, .state, .watch, .unwatch, .get, .leave, .enter, .exit, .typing, .person, .ping, .goodbye:
            return nil
        }
    }
}
